import { reasonOf } from '../../index.ts';
import { formatInstallCommand } from '../../install-line.ts';
import type { Tracing, TracingOptions } from './start-tracing.ts';

export type { Tracing, TracingOptions } from './start-tracing.ts';

/** The package names on npm. */
const LIBRARIES = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-node',
  'bullmq-otel',
];

/**
 * Enables tracing. Returns null, with one warning, if that fails, usually because the optional
 * libraries are not installed. Answers do not depend on traces.
 */
export async function openTracing(
  options: TracingOptions,
  load: () => Promise<(options: TracingOptions) => Tracing> = loadTracing,
): Promise<Tracing | null> {
  try {
    const start = await load();
    return start(options);
  } catch (error) {
    const advice = isModuleMissing(error)
      ? `the libraries for tracing are not installed; run "${formatInstallCommand(LIBRARIES)}"`
      : 'telemetry.otlp may be wrong';
    options.log.warn({ reason: reasonOf(error) }, `tracing is off: ${advice}`);
    return null;
  }
}

async function loadTracing(): Promise<(options: TracingOptions) => Tracing> {
  return (await import('./start-tracing.ts')).startTracing;
}

function isModuleMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
}
