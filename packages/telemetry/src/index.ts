export {
  createLogger,
  type LogDestination,
  type LoggerOptions,
  type LogLevel,
} from './logger.ts';
export { createScrubber, type Scrub } from './scrubber.ts';
