export { type GaugeReading, METRICS_CONTENT_TYPE } from './exposition.ts';
export {
  createLogger,
  type LogDestination,
  type LoggerOptions,
  type LogLevel,
} from './logger.ts';
export { createMetrics, type Metrics, type MetricsOptions } from './metrics.ts';
export { scrubJson } from './scrub-json.ts';
export { openSecrets, type Scrub, type ScrubbedStream, type Secrets } from './scrubber.ts';
