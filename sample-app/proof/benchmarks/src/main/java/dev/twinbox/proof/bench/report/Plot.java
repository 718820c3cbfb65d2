package dev.twinbox.proof.bench.report;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.style.Styler.LegendPosition;

/**
 * The picture of a report.
 *
 * @param x what the labels mean
 * @param y the unit of the values
 * @param labels along the x axis
 * @param series a value for each label, by name, in the order in which they are drawn
 */
public record Plot(
        String title,
        Style style,
        Scale scale,
        String x,
        String y,
        List<String> labels,
        Map<String, List<Double>> series) {

    private static final int WIDTH = 900;
    private static final int HEIGHT = 480;
    private static final double SMALLEST = 0.001;

    public enum Style {
        BARS(CategorySeriesRenderStyle.Bar),
        LINES(CategorySeriesRenderStyle.Line);

        private final CategorySeriesRenderStyle rendering;

        Style(CategorySeriesRenderStyle rendering) {
            this.rendering = rendering;
        }
    }

    public enum Scale {
        LINEAR,
        LOGARITHMIC
    }

    /** One bar per label. */
    public static Plot bars(String title, String y, Map<String, Double> values) {
        return new Plot(
                title,
                Style.BARS,
                Scale.LINEAR,
                "",
                y,
                List.copyOf(values.keySet()),
                Map.of(y, List.copyOf(values.values())));
    }

    /** Several bars per label, one of each series. */
    public static Plot groups(String title, String y, List<String> labels, Map<String, List<Double>> series) {
        return new Plot(title, Style.BARS, Scale.LINEAR, "", y, labels, new LinkedHashMap<>(series));
    }

    /** Lines on a logarithmic scale. */
    public static Plot lines(String title, String x, String y, List<String> labels, Map<String, List<Double>> series) {
        return new Plot(title, Style.LINES, Scale.LOGARITHMIC, x, y, labels, new LinkedHashMap<>(series));
    }

    /** A logarithmic axis has no zero. */
    private List<Double> drawable(List<Double> values) {
        return scale == Scale.LINEAR
                ? values
                : values.stream().map(value -> Math.max(value, SMALLEST)).toList();
    }

    public void write(Path file) throws IOException {
        System.setProperty("java.awt.headless", "true");
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(x)
                .yAxisTitle(y)
                .build();
        chart.getStyler().setDefaultSeriesRenderStyle(style.rendering);
        chart.getStyler().setYAxisLogarithmic(scale == Scale.LOGARITHMIC);
        chart.getStyler().setChartBackgroundColor(Color.WHITE);
        chart.getStyler().setLegendVisible(series.size() > 1);
        chart.getStyler().setLegendPosition(LegendPosition.OutsideS);
        chart.getStyler().setLabelsVisible(style == Style.BARS);
        series.forEach((name, values) -> chart.addSeries(name, labels, drawable(values)));
        Files.createDirectories(file.toAbsolutePath().getParent());
        BitmapEncoder.saveBitmap(chart, file.toString(), BitmapEncoder.BitmapFormat.PNG);
    }
}
