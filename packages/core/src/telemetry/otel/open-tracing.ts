import type { BullMQOtel } from 'bullmq-otel';
import { type Logger, reasonOf, type Tracer } from '../../index.ts';
import { installLine } from '../../install-line.ts';
import type { Scrub } from '../scrubber.ts';

/** As npm knows them. */
const LIBRARIES = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-node',
  'bullmq-otel',
];

/** Where traces go, and what they say of this process. */
export interface TracingOptions {
  /** A collector’s address for traces, OTLP over HTTP as JSON. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string;
  /** Of the messages: 1 is all. */
  readonly share: number;
  /** Distinguishes this process from others. */
  readonly instance: string;
  readonly version: string;
  readonly log: Logger;
  /** Keeps secrets out of what spans say. */
  readonly scrub: Scrub;
}

/** Traces that are on. */
export interface Tracing {
  readonly tracer: Tracer;
  /** For the queues: their jobs join the trace of their caller. */
  readonly queues: BullMQOtel;
  /** Sends what is left, within two seconds; never rejects. */
  close(): Promise<void>;
}

/**
 * Switches traces on. Null, with one warning, where that fails: usually the parts for it, which are
 * optional, are not installed. No answer depends on them.
 */
export async function openTracing(
  options: TracingOptions,
  load: () => Promise<(options: TracingOptions) => Tracing> = loadParts,
): Promise<Tracing | null> {
  try {
    const start = await load();
    return start(options);
  } catch (error) {
    const advice = isNotInstalled(error)
      ? `the libraries for traces are not installed; "${installLine(LIBRARIES)}" brings them`
      : 'telemetry.otlp may be wrong';
    options.log.warn({ reason: reasonOf(error) }, `nothing is traced: ${advice}`);
    return null;
  }
}

async function loadParts(): Promise<(options: TracingOptions) => Tracing> {
  return (await import('./start-tracing.ts')).startTracing;
}

function isNotInstalled(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
}
