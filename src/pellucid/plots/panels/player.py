"""A player of frames: one HTML page with its pictures inside, for a browser or a notebook's cell.

Play and pause, a slider, and keys: space plays, the arrows step, Home and End jump. Nothing is
fetched: a policy in the page allows its one style, its one script and pictures from the page.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape

STYLE = """
body{margin:0;font:14px system-ui,sans-serif;color:#111;background:#fff}
img{display:block;max-width:100%;max-height:calc(100vh - 4.5em);margin:auto}
form{display:flex;gap:.6em;align-items:center;padding:.4em .6em}
input{flex:1;min-width:4em}
button{font:inherit;min-width:4.5em}
output{min-width:5em;text-align:right}
p{margin:0 .6em .4em}
"""
SCRIPT = """
const told=JSON.parse(document.getElementById("frames").textContent);
const image=document.querySelector("img"),slider=document.querySelector("input");
const button=document.querySelector("button"),place=document.querySelector("output");
const title=document.querySelector("p"),last=told.frames.length-1;
let timer=null;
function show(i){
  const at=Math.min(Math.max(i,0),last);
  slider.value=at;image.src=told.frames[at];image.alt=told.titles[at];
  title.textContent=told.titles[at];place.textContent=(at+1)+" / "+(last+1);
}
function stop(){clearInterval(timer);timer=null;button.textContent="Play";}
function play(){
  if(Number(slider.value)>=last)show(0);
  button.textContent="Pause";
  timer=setInterval(()=>{
    show(Number(slider.value)+1);if(Number(slider.value)>=last)stop();
  },told.milliseconds);
}
function toggle(){if(timer===null)play();else stop();}
button.addEventListener("click",toggle);
slider.addEventListener("input",()=>{stop();show(Number(slider.value));});
document.addEventListener("keydown",(event)=>{
  const moves={ArrowLeft:-1,ArrowRight:1,Home:-last-1,End:last+1};
  if(event.key===" "){event.preventDefault();toggle();}
  else if(event.key in moves){
    event.preventDefault();stop();show(Number(slider.value)+moves[event.key]);
  }
});
show(0);
"""


def digest(text: str) -> str:
    """SHA-256 as a content security policy writes it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def player_html(frames: Sequence[bytes], titles: Sequence[str], title: str, seconds: float) -> str:
    """The page of PNG ``frames`` with a caption each; ``seconds`` per frame while it plays."""
    images = [f"data:image/png;base64,{base64.b64encode(frame).decode()}" for frame in frames]
    told = {"frames": images, "titles": list(titles), "milliseconds": int(1000 * seconds)}
    data = json.dumps(told).replace("<", "\\u003c").replace("&", "\\u0026")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{digest(STYLE)}'; "
        f"script-src '{digest(SCRIPT)}'; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f'<img alt="{escape(titles[0], quote=True)}" src="{images[0]}">'
        '<form><button type="button">Play</button>'
        f'<input type="range" min="0" max="{len(frames) - 1}" value="0" aria-label="step">'
        f"<output>1 / {len(frames)}</output></form>"
        f'<p aria-live="polite">{escape(titles[0])}</p>'
        f'<script type="application/json" id="frames">{data}</script>'
        f"<script>{SCRIPT}</script></body></html>"
    )
