"""Charts for notebooks: valid figures, with the texts of a table as they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from rdplearn import RDPClusterer, RDPDetector, TableEncoder, TableModel, plots
from rdplearn._explain.explanation import Explanation
from rdplearn.table.typical import Typical
from tests.conftest import SMALL

NASTY = "<b onclick=x>a & b</b>"


def test_the_distribution_counts_every_row_and_shows_the_line():
    scores = np.random.default_rng(0).gamma(2.0, size=5000)
    figure = plots.score_distribution(scores, threshold=6.0)
    assert figure.layout.yaxis.type == "log"
    assert figure.layout.shapes[0].x0 == 6.0
    assert sum(int(text.split(" ")[0].replace(",", "")) for text in figure.data[0].text[:-1]) == 5000


@pytest.mark.parametrize("scores", [[0.0], [2.0], [0.0, 0.0], [1.0, 1.0, 1.0001], [1e-9, 1e9]])
def test_a_distribution_of_any_scores_can_be_drawn(scores):
    assert plots.score_distribution(scores, threshold=1.0).to_json()


def test_names_of_columns_are_no_markup():
    figure = plots.contributions([NASTY, "2024"], [1.0, -0.5], notes=[NASTY, ""])
    assert figure.layout.yaxis.type == "category"
    texts = [*figure.data[0].y, *figure.data[0].hovertext, *figure.layout.yaxis.ticktext]
    assert not any("<" in text for text in texts)


def test_the_map_shows_rarity_not_the_size_of_scores():
    scores = np.array([1.0, 1e9, 2.0, 3.0])
    figure = plots.row_map(np.zeros((4, 2)), plots.rarity(scores))
    assert np.argmax(figure.data[0].marker.color) == 1
    assert max(figure.data[0].marker.color) == pytest.approx(np.log10(4))


def test_training_curves_are_those_of_the_history(table):
    history = RDPDetector(**SMALL).fit(table).history_
    drawn = [value for value in plots.training_curves(history).data[0].y if value is not None]
    moments = sorted({(record["round"], record["step"]) for record in history})
    losses = [
        np.mean([record["novelty_loss"] for record in history if (record["round"], record["step"]) == moment])
        for moment in moments
    ]
    np.testing.assert_allclose(drawn, losses)


def test_losses_that_went_astray_can_still_be_drawn():
    record = {"member": 0, "round": 0, "distance_loss": 0.1}
    history = [record | {"step": 1, "novelty_loss": float("inf")}, record | {"step": 2, "novelty_loss": float("nan")}]
    assert np.isfinite(plots.training_curves(history).data[0].y).all()


def test_every_figure_turns_dark():
    figure = plots.roc_curve([0.0, 1.0], [0.0, 1.0], 0.5)
    light = figure.layout.template.layout.font.color
    figure.update_layout(template=plots.template("dark"))
    assert figure.layout.template.layout.font.color != light


def test_what_judges_a_model_shows_itself_in_sentences():
    table = np.random.default_rng(0).normal(size=(300, 3))
    judged = RDPDetector(random_state=0).fit(table).assess(table)
    assert "would be the same with another seed" in repr(judged).splitlines()[0]
    assert "At a false-alarm rate of 10%, " in repr(judged).splitlines()[-1]
    assert "<td" in judged._repr_html_()
    assert "expected by chance" in judged._repr_html_()
    clusters = RDPClusterer(3, random_state=0).fit(table).assess(table)
    assert repr(clusters) == clusters.words()
    assert clusters._repr_html_().count("<tr>") == 4
    assert repr(TableEncoder(ignore=["a"])) == "TableEncoder(ignore=['a'])"


def test_a_notebook_shows_models_and_explanations_with_their_texts_escaped():
    frame = pa.table({NASTY: ["<i>", "x"] * 50, "size": [1.0, 2.0, 3.0, 4.0] * 25})
    model = TableModel(RDPDetector(**SMALL))
    assert "RDPDetector" in model._repr_html_()
    shown = model.fit(frame)._repr_html_()
    assert "Fitted on 100 rows" in shown
    assert "&lt;b onclick=x&gt;" in shown
    assert NASTY not in shown
    explanation = Explanation([NASTY], np.ones((12, 1)), np.ones(12), 0.0, np.ones((12, 1)), [Typical()])
    assert "12 rows explained, the first 10 of them shown" in explanation._repr_html_()
    assert NASTY not in explanation._repr_html_()


def test_an_explanation_names_the_rows_of_the_table_that_it_is_about():
    ages = pa.table({"age": [31.0, 57.0, 44.0, 900.0] * 25, "size": [1.0, 2.0, 3.0, 4.0] * 25})
    explanation = TableModel(RDPDetector(**SMALL)).fit(ages).explain(ages, rows=[7, 2])
    assert repr(explanation).splitlines()[1].startswith("Row 7 has score ")
    assert repr(explanation).splitlines()[2].endswith("% of it.")
    assert [int(place) for place in explanation.of_rows(np.array([1])).places] == [2]
    assert "<bdi>7</bdi>" in explanation._repr_html_()
