import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { z } from 'zod';

/** A received span. Times are in ms. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isFailed: boolean;
}

/** A loopback collector that accepts OTLP over HTTP, as JSON, and records what it receives. */
export interface OtlpCollector {
  readonly url: string;
  spans(): readonly CollectedSpan[];
  /** All request bodies, as received. */
  bodies(): readonly string[];
  /** The headers of the last request. */
  headers(): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

const Nanoseconds = z.union([z.string(), z.number()]).transform((value) => Number(value) / 1e6);
const Value = z.record(z.string(), z.unknown()).transform((value) => Object.values(value)[0]);
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(''),
  name: z.string(),
  startTimeUnixNano: Nanoseconds,
  endTimeUnixNano: Nanoseconds,
  attributes: z.array(z.object({ key: z.string(), value: Value })).default([]),
  status: z.object({ code: z.number().default(0) }).default({ code: 0 }),
});
const Traces = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(Span) })) })),
});

/** The OTLP status code of a failed span. */
const FAILED = 2;

/** Starts a collector on any free port. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const bodies: string[] = [];
  const spans: CollectedSpan[] = [];
  let headers: Readonly<Record<string, unknown>> = {};
  const server = createServer(async (request, response) => {
    const body = await readText(request);
    headers = request.headers;
    bodies.push(body);
    spans.push(...readSpans(body));
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans: () => spans,
    bodies: () => bodies,
    headers: () => headers,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}

function readSpans(body: string): CollectedSpan[] {
  const { resourceSpans } = Traces.parse(JSON.parse(body));
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(({ startTimeUnixNano, endTimeUnixNano, attributes, status, ...span }) => ({
      ...span,
      from: startTimeUnixNano,
      to: endTimeUnixNano,
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, value])),
      isFailed: status.code === FAILED,
    }));
}
