import type { Logger } from '@parley/contracts';
import manifest from '../package.json' with { type: 'json' };
import type { LoadedSettings } from './read-settings.ts';

/** Opens traces where the settings want them; without that nothing is loaded. Closed with `opened`. */
export async function openTraces(
  { otlp, service, share }: LoadedSettings['settings']['telemetry'],
  { instance, log }: { readonly instance: string; readonly log: Logger },
  opened: AsyncDisposableStack,
) {
  if (otlp === undefined) return null;
  const { openTracing } = await import('@parley/telemetry/otel');
  const about = { service, share, instance, version: manifest.version, log };
  const tracing = await openTracing({ ...otlp, ...about });
  if (tracing !== null) opened.defer(() => tracing.close());
  return tracing;
}
