//! Plots as SVG; the only file that names the plotting crate.

use plotters::prelude::*;

const SIZE: (u32, u32) = (800, 480);
const MARGIN: u32 = 18;
/// Axes of a wider range are not drawn: numbers this far apart are damage.
const WIDEST: f64 = 1e12;
const LINE: RGBColor = RGBColor(31, 92, 153);

/// The negative log-likelihood of every accepted point of a fit, over the number of the point on a logarithmic scale.
pub fn learning_curve(values: &[f64]) -> anyhow::Result<String> {
    let (lowest, highest) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)));
    if !(0.0..WIDEST).contains(&(highest - lowest)) {
        anyhow::bail!("the likelihoods of the fit are from {lowest} to {highest}: nothing that can be drawn");
    }
    let room = (0.04 * (highest - lowest)).max(f64::EPSILON * highest.abs()).max(1e-9);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption("Learning curve", ("sans-serif", 22))
            .margin(MARGIN)
            .x_label_area_size(44)
            .y_label_area_size(96)
            .build_cartesian_2d((1..values.len().max(2)).log_scale(), lowest - room..highest + room)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_desc("accepted steps")
            .y_desc("negative log-likelihood, nats a tuple")
            .y_label_formatter(&|value| format!("{value:.2}"))
            .label_style(("sans-serif", 14))
            .draw()?;
        let points = values.iter().enumerate().map(|(step, &value)| (step + 1, value));
        chart.draw_series(LineSeries::new(points, LINE.stroke_width(2)))?;
        area.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_no_curve_is_refused() {
        assert!(super::learning_curve(&[]).is_err() && super::learning_curve(&[1e308, -1e308]).is_err());
    }

    #[test]
    fn a_curve_is_drawn_also_of_one_point_or_a_flat_line() {
        for values in [&[3.0][..], &[3.0, 3.0, 3.0], &[5.0, 2.0, 1.5, 1.4]] {
            let svg = super::learning_curve(values).unwrap();
            assert!(svg.starts_with("<svg") && svg.contains("accepted steps") && !svg.contains("NaN"), "{svg}");
        }
    }
}
