import { createServer, type IncomingHttpHeaders } from 'node:http';
import { SocketModeClient } from '@slack/socket-mode';
import { ErrorCode, type Logger, LogLevel, WebClient } from '@slack/web-api';
import { listenOnLoopback, stopServer } from '../../loopback.ts';
import type { SlackDouble, SlackDoubleOptions } from '../slack-double.ts';
import { startSlackDouble } from '../start-slack-double.ts';
import { isRecord, type Json } from '../wire.ts';

/** This logger is silent because Slack's clients log every refusal. */
const nothing = () => undefined;
const SILENT: Logger = {
  ...{ debug: nothing, info: nothing, warn: nothing, error: nothing },
  ...{ setLevel: nothing, setName: nothing, getLevel: () => LogLevel.ERROR },
};

const closing: (() => unknown)[] = [];

/** Closes everything that these helpers started, newest first. */
export async function closeTestResources(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

/** Starts a double with a person and a channel, and creates a real WebClient without retries. */
export async function startSlackTestDouble(options: SlackDoubleOptions = {}) {
  const double = await startSlackDouble(options);
  closing.push(() => double.close());
  const ann = double.addMember({ name: 'Ann' });
  const channel = double.addChannel({ name: 'general', members: [ann] });
  return { double, ann, channel, direct: double.directChat(ann), web: createWebClient(double) };
}

export function createWebClient({ apiUrl, botToken }: SlackDouble, token = botToken): WebClient {
  return new WebClient(token, {
    slackApiUrl: apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: SILENT,
  });
}

/** An event that arrived in Socket Mode. */
export interface SocketEvent {
  readonly type: string;
  readonly body: Json;
  readonly retry_num?: number;
  readonly retry_reason?: string;
  ack(response?: object): Promise<void>;
}

/** Connects a SocketModeClient; `onEvent` is called for every event. */
export async function connectSocket(
  { apiUrl, appToken }: SlackDouble,
  onEvent: (event: SocketEvent) => unknown,
): Promise<SocketModeClient> {
  const clientOptions = { slackApiUrl: apiUrl };
  const silent = { clientPingTimeout: 50, logger: SILENT };
  const client = new SocketModeClient({ appToken, clientOptions, ...silent });
  client.on('slack_event', onEvent);
  await client.start();
  closing.push(() => client.disconnect());
  return client;
}

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * Starts a server with a request URL; it returns challenges, and `answer` decides the status of
 * other responses.
 */
export async function startReceiver(
  answer: (request: ReceivedRequest, nth: number) => number | 'hang',
) {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    // Closing the double aborts deliveries in progress.
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return;
    const body = Buffer.concat(chunks).toString();
    const { challenge } = isJson(body) ? JSON.parse(body) : { challenge: undefined };
    if (challenge !== undefined) {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(challenge);
      return;
    }
    const received = { headers: request.headers, body };
    requests.push(received);
    const status = answer(received, requests.length);
    if (status !== 'hang') response.writeHead(status).end();
  });
  const port = await listenOnLoopback(server, 0);
  closing.push(() => stopServer(server));
  return { url: `http://127.0.0.1:${port}/slack/events`, requests };
}

function isJson(body: string): boolean {
  return body.startsWith('{');
}

/** Returns the error data of a call that must be refused. */
export async function getRefusalData(call: Promise<unknown>): Promise<Json> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isRecord(error) && error.code === ErrorCode.PlatformError && isRecord(error.data))
    return error.data;
  if (isRecord(error) && error.code === ErrorCode.RateLimitedError)
    return { error: 'ratelimited', retryAfter: error.retryAfter };
  throw new Error(`Expected a refusal, got ${String(error)}`);
}
