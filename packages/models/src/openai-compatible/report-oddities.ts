import { type Logger, type Meter, type Monotonic, silentMeter } from '@parley/core';
import type { ReportOddities } from './client.ts';

/**
 * The minimum interval between log lines about the same model, in ms; the metric counts every
 * oddity.
 */
const LOG_INTERVAL_MS = 60 * 60 * 1_000;

interface ReportDeps {
  readonly logger: Logger;
  readonly monotonic: Monotonic;
  readonly meter?: Meter;
}

/**
 * Counts the content skipped in a model's answers, and logs it at intervals. The log does not
 * contain text from answers, which may be private.
 */
export function reportOddities(
  model: string,
  { logger, monotonic, meter = silentMeter }: ReportDeps,
): ReportOddities {
  let loggedAt: number | null = null;
  return (oddities) => {
    for (const [kind, times] of oddities) {
      meter.count('parley_model_protocol_errors_total', { kind }, times);
    }
    const now = monotonic();
    if (loggedAt !== null && now - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = now;
    logger.warn(
      { model, ...Object.fromEntries(oddities) },
      'The server sent an answer with parts that do not belong to the protocol; the rest of the answer was used.',
    );
  };
}
