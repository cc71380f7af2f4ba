"""Sweeps of probability calibration: logistic curves of one score, and a temperature."""

import math

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def sigmoid_sums(f, target, w, a, b, out):
    """Sums over rows for p = 1 / (1 + exp(-(a f + b))) with targets in (0, 1).

    out = value, d/da, d/db, d2/da2, d2/dadb, d2/db2 of sum w (log(1 + e^z) - t z).
    """
    value, ga, gb, haa, hab, hbb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(f)):
        z = a * f[i] + b
        e = math.exp(-abs(z))
        value += w[i] * (max(z, 0.0) + math.log1p(e) - target[i] * z)
        p = 1.0 / (1.0 + e) if z >= 0.0 else e / (1.0 + e)
        slope, curve = w[i] * (p - target[i]), w[i] * p * (1.0 - p)
        ga += slope * f[i]
        gb += slope
        haa += curve * f[i] * f[i]
        hab += curve * f[i]
        hbb += curve
    out[0], out[1], out[2] = value, ga, gb
    out[3], out[4], out[5] = haa, hab, hbb


@jit
def temperature_sums(z, code, w, beta, out):
    """out = first and second derivative in beta of -sum w log softmax(beta z)[code], beta > 0."""
    n, k = z.shape
    chance = np.empty(k)
    first, second = 0.0, 0.0
    for i in range(n):
        top = 0
        for j in range(1, k):
            if z[i, j] > z[i, top]:
                top = j
        total, mean = 0.0, 0.0
        for j in range(k):
            e = math.exp(beta * (z[i, j] - z[i, top])) if j != top else 1.0
            chance[j] = e
            total += e
            mean += e * z[i, j]
        mean /= total
        square = 0.0
        for j in range(k):
            square += chance[j] * (z[i, j] - mean) ** 2
        first += w[i] * (mean - z[i, code[i]])
        second += w[i] * square / total
    out[0], out[1] = first, second
