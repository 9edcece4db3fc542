import { openTracing, type Tracing, type TracingOptions } from '@parley/telemetry/otel';
import manifest from '../package.json' with { type: 'json' };
import type { LoadedSettings } from './read-settings.ts';

type Settings = LoadedSettings['settings']['telemetry'];
type Collected = Settings & { readonly otlp: NonNullable<Settings['otlp']> };

/** Opens traces to a collector, and leaves in `opened` how they are closed. Null: they are not installed. */
export async function openTraces(
  { otlp, service, share }: Collected,
  own: Pick<TracingOptions, 'instance' | 'log' | 'scrub'>,
  opened: AsyncDisposableStack,
): Promise<Tracing | null> {
  const about = { service, share, version: manifest.version, ...own };
  const tracing = await openTracing({ ...otlp, ...about });
  if (tracing !== null) opened.defer(() => tracing.close());
  return tracing;
}
