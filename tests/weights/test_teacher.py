"""The integer teacher: its outputs are those of a linear model in floats, and what is read from files is checked."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import random_graph, view_of
from lsprune import LSP, Graph
from lsprune.numeric.quantisation import fit_scales
from lsprune.weights.surroundings import node_part
from lsprune.weights.teacher import CHANCE_BITS, OUTPUT_BITS, Teacher, probabilities, problem, sigmoids

GRAPH = random_graph(0, nodes=25, edges=200, dim=6)
VIEW = view_of(LSP(k=1, hash="identity"), GRAPH)
UNIT = 1 << OUTPUT_BITS


def teacher(kind: str = "classes", hops: int = 2, outputs: int = 4, seed: int = 0) -> Teacher:
    rng = np.random.default_rng(seed)
    return Teacher.of_floats(kind, rng.normal(0, 0.02, (hops + 1, outputs, 6)), rng.normal(0, 1, outputs))


def means(graph: Graph) -> np.ndarray:
    """P as a dense matrix: the mean over a node and its neighbours."""
    source, target = graph.ends()
    matrix = np.eye(graph.num_nodes)
    other = source != target
    np.add.at(matrix, (target[other], source[other]), 1)
    return matrix / matrix.sum(1, keepdims=True)


@pytest.mark.parametrize("hops", [0, 1, 2])
@pytest.mark.parametrize("executor", ["cpu", "reference"])
def test_outputs_are_those_of_a_linear_model_of_propagated_attributes(hops, executor):
    model, part = teacher(hops=hops), node_part(GRAPH, "in", 0)
    view = view_of(LSP(k=1, hash="identity"), GRAPH, executor=executor)
    scale = fit_scales({"taught": part}, unit=True, runtime=view.runtime)["taught"]
    unit = GRAPH.x / np.linalg.norm(GRAPH.x, axis=1, keepdims=True)
    quanta = unit * 2.0**scale.exponent - np.array(scale.centre) / 256
    expected, rows = model.bias / UNIT, np.clip(quanta, -127, 127)
    for block in model.weights:
        expected = expected + rows @ (block / 2.0**model.shift).T
        rows = means(GRAPH) @ rows
    found = model.outputs(view, part, scale) / UNIT
    np.testing.assert_allclose(found, expected, atol=0.05)
    assert np.ptp(expected) > 1


def test_probabilities_are_the_softmax_to_base_two():
    outputs = np.random.default_rng(0).integers(-20 * UNIT, 20 * UNIT, (50, 6))
    powers = np.exp2((outputs - outputs.max(1, keepdims=True)) / UNIT)
    expected = powers / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(probabilities(outputs, VIEW) / 2**CHANCE_BITS, expected, atol=1e-3)
    np.testing.assert_allclose(sigmoids(outputs, VIEW) / 2**CHANCE_BITS, 1 / (1 + np.exp2(-outputs / UNIT)), atol=1e-3)
    far = np.array([[2**30, -(2**30)], [-(2**30), 2**30]])
    assert (
        probabilities(far, VIEW).tolist() == [[2**CHANCE_BITS, 0], [0, 2**CHANCE_BITS]] == sigmoids(far, VIEW).tolist()
    )


@pytest.mark.parametrize("kind", ["classes", "labels", "numbers"])
def test_agreement_is_the_probability_of_the_same_labels(kind):
    outputs = np.random.default_rng(1).integers(-3 * UNIT, 3 * UNIT, (25, 4))
    logs = teacher(kind).agreement(VIEW, outputs) / 2**32
    owned = VIEW.owned
    first = outputs[np.repeat(np.arange(25), np.diff(owned.indptr))] / UNIT
    second = outputs[owned.neighbour] / UNIT
    if kind == "classes":
        chances = [np.exp2(rows) / np.exp2(rows).sum(1, keepdims=True) for rows in (first, second)]
        expected = np.log2((chances[0] * chances[1]).sum(1))
    elif kind == "labels":
        one, two = (1 / (1 + np.exp2(-rows)) for rows in (first, second))
        expected = np.log2(one * two + (1 - one) * (1 - two)).sum(1)
    else:
        expected = np.maximum(-np.square(first - second).sum(1), -64)
    np.testing.assert_allclose(logs, expected, atol=0.1)
    assert np.ptp(expected) > 2


def test_what_is_packed_is_unpacked():
    one = teacher("numbers", hops=1, outputs=3)
    again = Teacher.unpacked(one.packed())
    assert (again.kind, again.shift) == (one.kind, one.shift)
    np.testing.assert_array_equal(again.bias, one.bias)
    np.testing.assert_array_equal(again.weights, one.weights)
    assert problem(one.packed(), 6) == ""


@pytest.mark.parametrize("place", range(12))
def test_damaged_parameters_are_refused(place):
    """Every number of the header matters, and so does the size of parameters."""
    packed = teacher().packed()
    for value in (-1, 99, 32767):
        wrong = packed.copy()
        wrong[place] = value
        if not np.array_equal(wrong, packed):
            assert problem(wrong, 6) or place >= 10  # biases may be any small number
    assert problem(None, 6) and problem(packed[:5], 6) and problem(packed[:-1], 6) and problem(packed, 7)
    assert problem(np.append(packed[:-1], 9000).astype(np.int16), 6)
    assert problem(packed[None], 6)
