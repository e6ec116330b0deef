//! Figures as SVG files, drawn from the numbers that the tables print.
//!
//! An experiment names a figure and gives its series. Nothing is drawn without `--svg`. Text has the viewer's own font, so that
//! the machine that draws needs none.

use std::path::{Path, PathBuf};

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::Fallible;

const SIZE: (u32, u32) = (900, 560);
const MARGIN: u32 = 16;
const LABELS: u32 = 56;
/// Longer names of groups are written upright, and have this much room.
const LONG: usize = 9;
const LONG_LABELS: u32 = 190;
/// Pixels of text.
const TEXT: u32 = 14;
const TITLE: u32 = 17;
/// The part of the height above the highest point, which the names of the series take.
const HEADROOM: f64 = 1.4;
/// The share of a group's width that its bars take.
const BARS: f64 = 0.8;
/// Colours that people who see colours differently can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(160, 140, 20),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Axes<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Where figures go.
pub(crate) struct Charts {
    folder: Option<PathBuf>,
    experiment: &'static str,
}

/// What is written beside a figure.
#[derive(Clone, Copy)]
pub(crate) struct Figure<'a> {
    /// Its part of the file's name.
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) x: &'a str,
    pub(crate) y: &'a str,
}

/// Points of one name, or a bar of each group. Points that are no numbers are left out.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// True for a paper's points, which are not joined.
    pub(crate) is_paper: bool,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), points, is_paper: false }
    }

    /// A paper's points.
    pub(crate) fn paper(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { is_paper: true, ..Series::new(name, points) }
    }

    /// With the decimal logarithms of `x`.
    fn logarithms(&self) -> Series {
        let above_0 = self.points.iter().filter(|(x, _)| *x > 0.0);
        let points = above_0.map(|(x, y)| (x.log10(), *y)).collect();
        Series { name: self.name.clone(), points, is_paper: self.is_paper }
    }

    /// A bar of each group.
    pub(crate) fn bars(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Series {
        let points = values.into_iter().enumerate();
        Series::new(name, points.map(|(group, value)| (group as f64, value)).collect())
    }
}

impl Charts {
    /// Figures go to this folder, which is made, or nowhere.
    pub(crate) fn new(folder: Option<&Path>) -> Fallible<Charts> {
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        Ok(Charts { folder: folder.map(Path::to_owned), experiment: "" })
    }

    /// Figures are of this experiment from now on.
    pub(crate) fn begin(&mut self, experiment: &'static str) {
        self.experiment = experiment;
    }

    /// Draws points, joined by lines.
    pub(crate) fn lines(&self, figure: Figure<'_>, series: &[Series]) -> Fallible<()> {
        let Some(path) = self.path(figure) else { return Ok(()) };
        let area = area(&path)?;
        let x_end = end(series, |point| point.0);
        let mut axes =
            axes(&area, figure.title, LABELS, 0.0..x_end, HEADROOM * end(series, |point| point.1))?;
        axes.configure_mesh()
            .x_desc(figure.x)
            .y_desc(figure.y)
            .label_style(("sans-serif", TEXT))
            .light_line_style(TRANSPARENT)
            .draw()?;
        points(&mut axes, series)?;
        finish(&mut axes, &area)
    }

    /// Draws points, joined by lines, over a logarithmic axis of `x`. Points that are not above 0 there are left out.
    pub(crate) fn logarithmic(&self, figure: Figure<'_>, series: &[Series]) -> Fallible<()> {
        let Some(path) = self.path(figure) else { return Ok(()) };
        let area = area(&path)?;
        let series: Vec<Series> = series.iter().map(Series::logarithms).collect();
        let x = decades(&series);
        let labels = (x.end - x.start) as usize + 1;
        let y_end = HEADROOM * end(&series, |point| point.1);
        let mut axes = axes(&area, figure.title, LABELS, x, y_end)?;
        axes.configure_mesh()
            .x_desc(figure.x)
            .y_desc(figure.y)
            .x_labels(labels)
            .x_label_formatter(&power)
            .label_style(("sans-serif", TEXT))
            .light_line_style(TRANSPARENT)
            .draw()?;
        points(&mut axes, &series)?;
        finish(&mut axes, &area)
    }

    /// Draws a bar of each series in each group.
    pub(crate) fn bars(
        &self,
        figure: Figure<'_>,
        groups: &[String],
        series: &[Series],
    ) -> Fallible<()> {
        let Some(path) = self.path(figure) else { return Ok(()) };
        let area = area(&path)?;
        let is_long = groups.iter().any(|group| group.chars().count() > LONG);
        let labels = if is_long { LONG_LABELS } else { LABELS };
        let x_end = groups.len() as f64 - 0.5;
        let mut axes = axes(
            &area,
            figure.title,
            labels,
            -0.5..x_end,
            HEADROOM * end(series, |point| point.1),
        )?;
        let font = ("sans-serif", TEXT).into_font();
        let font = if is_long { font.transform(FontTransform::Rotate90) } else { font };
        let group = |at: &f64| match at.fract() == 0.0 && *at >= 0.0 {
            true => groups.get(*at as usize).cloned().unwrap_or_default(),
            false => String::new(),
        };
        axes.configure_mesh()
            .disable_x_mesh()
            .x_labels(groups.len() * 2 + 1)
            .x_label_formatter(&group)
            .x_label_style(font)
            .y_label_style(("sans-serif", TEXT))
            .x_desc(figure.x)
            .y_desc(figure.y)
            .light_line_style(TRANSPARENT)
            .draw()?;
        let width = BARS / series.len().max(1) as f64;
        for (number, one) in series.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let bars = one.points.iter().filter(|(_, y)| y.is_finite()).map(|(x, y)| {
                let from = x - BARS / 2.0 + width * number as f64;
                let style = if one.is_paper { colour.stroke_width(2) } else { colour.filled() };
                Rectangle::new([(from, 0.0), (from + width, *y)], style)
            });
            name(axes.draw_series(bars)?, one, colour);
        }
        finish(&mut axes, &area)
    }

    /// Draws a map of shares from 0 to 1, in tints of their roots: a column for each step of `step` units, of which each has its rows from the bottom up.
    pub(crate) fn heat(
        &self,
        figure: Figure<'_>,
        columns: &[Vec<f64>],
        step: f64,
        y_end: f64,
    ) -> Fallible<()> {
        let Some(path) = self.path(figure) else { return Ok(()) };
        let area = area(&path)?;
        let x_end = (columns.len() as f64 * step).max(f64::MIN_POSITIVE);
        let mut axes = axes(&area, figure.title, LABELS, 0.0..x_end, y_end)?;
        axes.configure_mesh()
            .disable_mesh()
            .x_desc(figure.x)
            .y_desc(figure.y)
            .label_style(("sans-serif", TEXT))
            .draw()?;
        for (number, column) in columns.iter().enumerate() {
            let height = y_end / column.len().max(1) as f64;
            let (from, to) = (number as f64 * step, (number + 1) as f64 * step);
            let cell = |(row, share): (usize, &f64)| {
                let (bottom, top) = (row as f64 * height, (row + 1) as f64 * height);
                Rectangle::new([(from, bottom), (to, top)], COLOURS[0].mix(share.sqrt()).filled())
            };
            let cells = column.iter().enumerate().filter(|(_, share)| **share > 0.0);
            axes.draw_series(cells.map(cell))?;
        }
        area.present()?;
        Ok(())
    }

    fn path(&self, figure: Figure<'_>) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folder.join(format!("{}-{}.svg", self.experiment, figure.name)))
    }
}

fn area(path: &Path) -> Fallible<Area<'_>> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    Ok(area)
}

/// The axes of a figure. That of `y` begins at 0.
fn axes<'a, 'b>(
    area: &'a Area<'b>,
    title: &str,
    labels: u32,
    x: std::ops::Range<f64>,
    y_end: f64,
) -> Fallible<Axes<'a, 'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.caption(title, ("sans-serif", TITLE)).margin(MARGIN);
    builder.x_label_area_size(labels).y_label_area_size(LABELS + MARGIN);
    Ok(builder.build_cartesian_2d(x, 0.0..y_end)?)
}

/// The end of an axis: a little more than the largest number.
fn end(series: &[Series], of: fn(&(f64, f64)) -> f64) -> f64 {
    let all = series.iter().flat_map(|one| &one.points).map(of).filter(|value| value.is_finite());
    let most = all.fold(0.0, f64::max);
    if most > 0.0 { most * 1.05 } else { 1.0 }
}

/// The whole powers of ten around all logarithms: at least one decade.
fn decades(series: &[Series]) -> std::ops::Range<f64> {
    let all = || series.iter().flat_map(|one| &one.points).map(|(x, _)| *x);
    let first = all().fold(f64::INFINITY, f64::min).floor();
    let first = if first.is_finite() { first } else { 0.0 };
    first..all().fold(first + 1.0, f64::max).ceil()
}

/// The number that has this logarithm, if that is whole.
fn power(logarithm: &f64) -> String {
    let whole = logarithm.round();
    let digits = (-whole).max(0.0) as usize;
    match (logarithm - whole).abs() < 1e-6 {
        true => format!("{:.digits$}", 10f64.powf(whole)),
        false => String::new(),
    }
}

fn points(axes: &mut Axes<'_, '_>, series: &[Series]) -> Fallible<()> {
    for (number, one) in series.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let points = one.points.iter().copied().filter(|(_, y)| y.is_finite());
        if !one.is_paper {
            axes.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
        }
        let mark = |point| {
            if one.is_paper {
                Cross::new(point, 5, colour.stroke_width(2)).into_dyn()
            } else {
                Circle::new(point, 3, colour.filled()).into_dyn()
            }
        };
        name(axes.draw_series(points.map(mark))?, one, colour);
    }
    Ok(())
}

fn name<'a, 'b>(
    drawn: &mut plotters::chart::SeriesAnno<'a, SVGBackend<'b>>,
    one: &Series,
    colour: RGBColor,
) {
    let style = if one.is_paper { colour.stroke_width(2) } else { colour.filled() };
    drawn
        .label(one.name.as_str())
        .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], style));
}

fn finish<'a, 'b: 'a>(axes: &mut Axes<'a, 'b>, area: &Area<'b>) -> Fallible<()> {
    axes.configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", TEXT))
        .draw()?;
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn each_kind_of_figure_is_a_file_with_its_names() {
        let scratch = Scratch::on_disk().unwrap();
        let mut charts = Charts::new(Some(scratch.path())).unwrap();
        charts.begin("test");
        let figure = |name| Figure { name, title: "A title", x: "size", y: "rate" };
        let series = [
            Series::new("ours", vec![(1.0, 2.0), (2.0, f64::NAN), (3.0, 5.0)]),
            Series::paper("theirs", vec![(1.0, 3.0)]),
        ];
        charts.lines(figure("lines"), &series).unwrap();
        charts.logarithmic(figure("logarithmic"), &series).unwrap();
        charts.bars(figure("bars"), &["a".into(), "a long name".into()], &series).unwrap();
        charts.heat(figure("heat"), &[vec![0.0, 0.5], vec![1.0, 0.0]], 0.2, 8.0).unwrap();
        let read = |name: &str| {
            std::fs::read_to_string(scratch.path().join(format!("test-{name}.svg"))).unwrap()
        };
        for name in ["lines", "logarithmic", "bars", "heat"] {
            assert!(read(name).contains("A title"), "{name}");
        }
        assert!(read("lines").contains("ours") && read("lines").contains("theirs"));
        assert!(read("bars").contains("a long name"));
        // The background, and the cells that are not empty.
        assert_eq!(read("heat").matches("<rect").count(), 3);
    }

    #[test]
    fn a_logarithmic_axis_has_whole_powers_of_ten() {
        let series = Series::new("one", vec![(0.02, 1.0), (0.0, 2.0), (300.0, 3.0)]).logarithms();
        assert_eq!(series.points.len(), 2);
        assert_eq!(decades(&[series]), -2.0..3.0);
        assert_eq!(decades(&[]), 0.0..1.0);
        assert_eq!([-2.0, 0.5, 3.0].map(|at| power(&at)), ["0.01", "", "1000"]);
    }

    #[test]
    fn nothing_is_drawn_without_a_folder() {
        let figure = Figure { name: "none", title: "", x: "", y: "" };
        assert!(Charts::new(None).unwrap().lines(figure, &[]).is_ok());
    }
}
