import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';
import { type ReactNode, useRef } from 'react';
import { formatCompact, formatCount } from '../../design/formats.ts';
import { remPx, useWidth } from '../../screen/useWidth.ts';
import styles from './usageChart.module.css';
import type { Bar as UsageBar } from './usageValues.ts';

/** As the style says, which grows with the text. */
const HEIGHT_REM = 17.5;
const LEFT_REM = 3.25;
/** Half of the last name. */
const RIGHT_REM = 1;
const BOTTOM_REM = 1.75;
const TOP_REM = 0.5;
/** A name with its space. */
const NAME_REM = 4;
const FONT_REM = 0.75;
const TICKS = 4;

interface DrawingProps {
  readonly bars: readonly UsageBar[];
  /** From the ground up. */
  readonly models: readonly string[];
  readonly measure: string;
  readonly nameOf: (start: string) => string;
  /** The class of a model, by its place. */
  readonly classOf: (place: number) => string;
  readonly onOpen: (start: string) => void;
}

/** Bars in the pixels of the page, so that their names are as large as other text on every screen. */
export function Drawing(props: DrawingProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  return (
    <div ref={frame} className={styles.drawing}>
      {width !== undefined && <Bars width={width} {...props} />}
    </div>
  );
}

function Bars({ width, ...drawn }: DrawingProps & { width: number }) {
  const { bars, models, measure, nameOf, classOf, onOpen } = drawn;
  const rem = remPx();
  const [height, left, bottom, top] = [HEIGHT_REM, LEFT_REM, BOTTOM_REM, TOP_REM].map(
    (length) => length * rem,
  ) as [number, number, number, number];
  const x = scaleBand({
    domain: bars.map(({ start }) => start),
    range: [left, width - RIGHT_REM * rem],
    padding: 0.25,
  });
  const y = scaleLinear({
    domain: [0, Math.max(1, ...bars.map(({ total }) => total))],
    range: [height - bottom, top],
    nice: TICKS,
  });
  const every = Math.ceil(bars.length / Math.max(1, Math.floor((width - left) / (NAME_REM * rem))));
  return (
    <svg width={width} height={height}>
      <title>{`${measure} by time and model; the table has the numbers`}</title>
      <Grid scale={y} left={left} right={width} fontSize={FONT_REM * rem} />
      {bars
        .filter(({ total }) => total > 0)
        .map(({ start, total, values }) => (
          <OpenableBar
            key={start}
            words={`${nameOf(start)}: ${formatCount(total)} ${measure}`}
            onOpen={() => onOpen(start)}
          >
            <Bar
              x={x(start) ?? 0}
              y={top}
              width={x.bandwidth()}
              height={height - bottom - top}
              className={styles.reach ?? ''}
            />
            {stackOf(values, models).map(({ model, from, to, place }) => (
              <Bar
                key={model}
                x={x(start) ?? 0}
                width={x.bandwidth()}
                y={y(to)}
                height={Math.max(0, y(from) - y(to))}
                className={classOf(place)}
              />
            ))}
          </OpenableBar>
        ))}
      <AxisBottom
        scale={x}
        top={height - bottom}
        tickValues={bars.filter((_, place) => place % every === 0).map(({ start }) => start)}
        tickFormat={(start) => nameOf(String(start))}
        tickLength={4}
        axisClassName={styles.axis ?? ''}
        tickLabelProps={{
          className: styles.label ?? '',
          textAnchor: 'middle',
          fontSize: FONT_REM * rem,
        }}
      />
    </svg>
  );
}

/** The amounts at the left, with a line for each. */
function Grid(props: {
  scale: ReturnType<typeof scaleLinear<number>>;
  left: number;
  right: number;
  fontSize: number;
}) {
  const { scale, left, right, fontSize } = props;
  // Half of a number has no meaning here.
  const ticks = scale.ticks(TICKS).filter(Number.isInteger);
  return (
    <>
      <AxisLeft
        scale={scale}
        left={left}
        tickValues={ticks}
        hideAxisLine
        tickFormat={(value) => formatCompact(Number(value))}
        tickLength={0}
        axisClassName={styles.axis ?? ''}
        tickLabelProps={{
          className: styles.label ?? '',
          textAnchor: 'end',
          dx: -8,
          dy: fontSize / 3,
        }}
      />
      {ticks.map((tick) => (
        <line
          key={tick}
          x1={left}
          x2={right}
          y1={scale(tick)}
          y2={scale(tick)}
          className={styles.grid}
        />
      ))}
    </>
  );
}

function OpenableBar(props: { words: string; onOpen: () => void; children: ReactNode }) {
  const { words, onOpen, children } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons
    <g
      role="button"
      tabIndex={0}
      className={styles.bar}
      aria-label={`${words}. Open its jobs`}
      onClick={onOpen}
      onKeyDown={({ key }) => {
        if (key === 'Enter' || key === ' ') onOpen();
      }}
    >
      <title>{words}</title>
      {children}
    </g>
  );
}

/** Each model's part of a bar, from the ground up. */
function stackOf(values: ReadonlyMap<string, number>, models: readonly string[]) {
  let ground = 0;
  return models.flatMap((model, place) => {
    const value = values.get(model) ?? 0;
    if (value === 0) return [];
    const from = ground;
    ground += value;
    return { model, from, to: ground, place };
  });
}
