export { openPersistentLog, type PersistentLog } from './log-file.ts';
export {
  createLogger,
  formatLogLine,
  type LogDestination,
  type LogLevel,
} from './logger.ts';
export {
  createMetrics,
  type GaugeReading,
  type LoopLagMonitor,
  METRICS_CONTENT_TYPE,
  type Metrics,
  startLoopLagMonitor,
} from './metrics.ts';
export {
  openSecrets,
  type Scrub,
  type Secrets,
  scrubBytes,
  scrubJson,
} from './scrubber.ts';
