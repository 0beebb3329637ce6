"""The warp Ψ: low-dimensional points moved to where their images in the cube really are.

Beyond the faces of the cube, clip(A y) hardly moves while y does, and a kernel on y sees distances that are
not there (Binois, Ginsbourger and Roustant 2015). With Q an orthonormal basis of the columns of A:

    x = clip(A y)       p = Qᵀ x       z = Q p, the projection of x on the subspace       c = max |z|
    Ψ = p                                        if c ≤ 1
    Ψ = Qᵀ z' (1 + ‖x − z'‖ / ‖z'‖), z' = z / c   otherwise

so that points are told apart by their distance from where the subspace leaves the cube. In terms of p,
Ψ = s p with s = 1/c + t/‖p‖ and t² = ‖x − z'‖² = ‖x‖² − 2 ‖p‖²/c + ‖p‖²/c².
"""

from __future__ import annotations

import numpy as np

from hidim._types import Array
from hidim.gp.maps import Map, Mapped

#: A subspace that is the whole space leaves the cube nowhere, but for rounding.
ROUNDING = 1e-12


class Warped(Map):
    """Y (n, d) to Ψ(Y) (n, d).

    Args:
        matrix: A (D, d).
    """

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix
        self.basis = np.linalg.qr(matrix)[0]

    def __call__(self, theta: Array, x: Array) -> Mapped:
        raw = x @ self.matrix.T
        lifted = np.clip(raw, -1.0, 1.0)
        p = lifted @ self.basis
        z = p @ self.basis.T
        corner = np.argmax(np.abs(z), axis=1)
        rows = np.arange(len(x))
        c = np.abs(z[rows, corner])
        outside = c > 1.0 + ROUNDING
        size = np.linalg.norm(p, axis=1)
        size[size == 0.0] = 1.0  # at the origin, where t is 0
        c[~outside] = 1.0
        t = np.linalg.norm(lifted - z / c[:, None], axis=1) * outside
        s = 1.0 / c + t / size

        def to_inputs(g: Array) -> Array:
            g_s = np.vecdot(g, p) * outside
            # ∂s: −1/c² ∂c + ∂t/‖p‖ − t/‖p‖² ∂‖p‖, with t ∂t = x·∂x − (2/c − 1/c²) p·∂p + ‖p‖² (c − 1)/c³ ∂c
            g_t = np.divide(g_s, size * t, out=np.zeros_like(t), where=t > 0.0)
            g_c = -g_s / c**2 + g_t * size**2 * (c - 1.0) / c**3
            along = -g_t * (2.0 / c - 1.0 / c**2) - g_s * t / size**3
            g_p = g * s[:, None] + along[:, None] * p
            g_p += (g_c * np.sign(z[rows, corner]))[:, None] * self.basis[corner]
            g_x = g_p @ self.basis.T + g_t[:, None] * lifted
            return np.asarray((g_x * (np.abs(raw) < 1.0)) @ self.matrix)

        return Mapped(s[:, None] * p, lambda _: np.empty(0), to_inputs)
