import { z } from 'zod';

const Otlp = z
  .strictObject({
    url: z
      .url({
        protocol: /^https?$/,
        error: 'the address of a collector, such as http://127.0.0.1:4318/v1/traces',
      })
      .describe('Of a collector that speaks OTLP over HTTP; usually ends in /v1/traces.'),
    headers: z
      .record(z.string(), z.string())
      .default({})
      .describe('Sent with every request, such as authorization.'),
  })
  .describe('Where traces go; without it there are none.');

/** Traces for OpenTelemetry. */
export const Telemetry = z
  .strictObject({
    otlp: Otlp.optional(),
    service: z
      .string()
      .min(1)
      .max(100)
      .default('parley')
      .describe('What the installation is called in traces.'),
    share: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe('Which share of the messages is traced: 1 is all of them, 0.1 every tenth.'),
  })
  .prefault({})
  .describe('Traces for OpenTelemetry: from a platform’s message to its receipt of the answer.');
export type Telemetry = z.infer<typeof Telemetry>;
