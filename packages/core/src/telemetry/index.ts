export {
  createLogger,
  type LogDestination,
  type LoggerOptions,
  type LogLevel,
} from './logger.ts';
export {
  createMetrics,
  type GaugeReading,
  type LoopLag,
  METRICS_CONTENT_TYPE,
  type Metrics,
  type MetricsOptions,
  openLoopLag,
} from './metrics.ts';
export {
  openSecrets,
  type Scrub,
  type ScrubbedStream,
  type Secrets,
  scrubJson,
} from './scrubber.ts';
