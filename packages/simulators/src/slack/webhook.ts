import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import type { Delivery, DeliveryResult, RetryInfo } from './delivery.ts';
import { isRecord } from './wire.ts';

/** The secret and the clock for signatures. */
export interface SigningSecret {
  readonly secret: string;
  readonly clock: () => number;
}

interface WebhookCall {
  readonly url: string;
  readonly delivery: Delivery;
  readonly retry: RetryInfo;
  readonly signing: SigningSecret;
  readonly withinMs: number;
}

/** Calls the request URL once, without following redirects. */
export async function callWebhook(call: WebhookCall): Promise<DeliveryResult> {
  const { url, delivery, retry, signing, withinMs } = call;
  const [type, body] = encodeDelivery(delivery);
  const again = retry.attempt > 0 && {
    'x-slack-retry-num': String(retry.attempt),
    'x-slack-retry-reason': retry.reason,
  };
  const answer = await postToWebhook(url, { type, body, signing, withinMs, headers: { ...again } });
  if (typeof answer === 'string') return { isAccepted: false, reason: answer };
  if (answer.status >= 200 && answer.status < 300) return { isAccepted: true, body: answer.body };
  return { isAccepted: false, reason: 'http_error', isFinal: answer.noRetry };
}

/**
 * Calls the request URL with a challenge, as Slack does when the URL is entered in the app's
 * settings.
 * @throws Error with a readable reason when the response does not contain the challenge
 */
export async function verifyUrl(url: string, token: string, signing: SigningSecret): Promise<void> {
  const challenge = createHmac('sha256', signing.secret)
    .update(String(signing.clock()))
    .digest('hex');
  const body = JSON.stringify({ token, challenge, type: 'url_verification' });
  const more = { type: 'application/json', withinMs: 3_000, headers: {} };
  const answer = await postToWebhook(url, { ...more, body, signing });
  if (typeof answer === 'string') throw new Error(`${url} did not answer (${answer}).`);
  const { status, body: said } = answer;
  const returned = isRecord(said) ? said.challenge : said;
  if (status !== 200 || String(returned).trim() !== challenge)
    throw new Error(`${url} did not return the challenge; it answered with status ${status}.`);
}

/** Computes the signature of a request: `v0=` and an HMAC of version, timestamp and body. */
function createSignature(secret: string, timestamp: string, body: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

/**
 * Events are sent as JSON, interactions as a form with JSON in one field, and commands as a form.
 */
function encodeDelivery({ type, payload }: Delivery): readonly [type: string, body: string] {
  const form = 'application/x-www-form-urlencoded';
  if (type === 'events_api') return ['application/json', JSON.stringify(payload)];
  if (type === 'interactive')
    return [form, String(new URLSearchParams({ payload: JSON.stringify(payload) }))];
  const fields = Object.entries(payload).map(([name, value]) => [name, String(value)] as const);
  return [form, String(new URLSearchParams(Object.fromEntries(fields)))];
}

interface WebhookPost {
  readonly type: string;
  readonly body: string;
  readonly signing: SigningSecret;
  readonly withinMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface WebhookResponse {
  readonly status: number;
  readonly body: unknown;
  readonly noRetry: boolean;
}

/** Sends the body in two chunks, split inside a multi-byte character if there is one. */
function postToWebhook(
  url: string,
  { type, body, signing, withinMs, headers }: WebhookPost,
): Promise<WebhookResponse | string> {
  const bytes = Buffer.from(body);
  const wide = bytes.findIndex((byte) => byte > 0x7f);
  const cut = wide < 0 ? 1 : wide + 1;
  const timestamp = String(Math.floor(signing.clock() / 1_000));
  const options = {
    method: 'POST',
    headers: {
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      'content-type': type,
      'content-length': bytes.length,
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': createSignature(signing.secret, timestamp, body),
      ...headers,
    },
  };
  return new Promise((resolve) => {
    const call = request(url, options, async (response) => {
      const text = Buffer.concat(await response.toArray().catch(() => [])).toString();
      clearTimeout(timer);
      resolve({
        status: response.statusCode ?? 0,
        body: parseJson(text),
        noRetry: response.headers['x-slack-no-retry'] === '1',
      });
    });
    const timer = setTimeout(() => {
      resolve('http_timeout');
      call.destroy();
    }, withinMs);
    call.on('error', () => {
      clearTimeout(timer);
      resolve('connection_failed');
    });
    call.setNoDelay(true);
    call.write(bytes.subarray(0, cut));
    setTimeout(() => call.end(bytes.subarray(cut)), 2);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
