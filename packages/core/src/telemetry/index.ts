export { type KeptLog, openKeptLog } from './log-file.ts';
export {
  createLogger,
  formatLogLine,
  type LogDestination,
  type LogLevel,
} from './logger.ts';
export {
  createMetrics,
  type GaugeReading,
  type LoopLag,
  METRICS_CONTENT_TYPE,
  type Metrics,
  openLoopLag,
} from './metrics.ts';
export {
  openSecrets,
  type Scrub,
  type Secrets,
  scrubBytes,
  scrubJson,
} from './scrubber.ts';
