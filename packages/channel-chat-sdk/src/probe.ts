import { createSign } from 'node:crypto';
import { withoutNulls } from '@parley/channels';
import { type ChannelProbe, measureClockSkew, type ProbeEnv } from '@parley/channels/probe';
import { reasonOf } from '@parley/core';
import { z } from 'zod';
import type { AccountOptions } from './platforms/platform.ts';

type PlatformProbeEnv = Pick<ProbeEnv, 'signal' | 'clock'>;

/** The platform's answer about the bot's identity. */
interface IdentityResponse {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

/** The identity request for a platform, and how to read its response. */
interface IdentityRequest {
  readonly url: string;
  readonly init: RequestInit;
  readonly read: (answer: IdentityResponse) => IdentityResult;
}

type IdentityResult =
  | {
      readonly kind: 'works';
      readonly as: string;
      readonly warning?: string;
      readonly fix?: string;
    }
  /** The platform rejected the secrets; `fix` says where to get valid ones. */
  | { readonly kind: 'refused'; readonly reason: string; readonly fix: string };

/** The maximum response size, in characters. */
const MAX_ANSWER = 100_000;

/**
 * Asks the platform once for the identity of the account's bot. Platforms without a cheap identity
 * request are reported as `unknown`.
 */
export async function probePlatform(
  {
    use,
    name,
    options,
  }: { readonly use: string; readonly name: string; readonly options: AccountOptions },
  { signal, clock }: PlatformProbeEnv,
): Promise<ChannelProbe> {
  const question = Object.hasOwn(QUESTIONS, use) ? QUESTIONS[use]?.(options, clock) : undefined;
  if (question !== undefined && 'kind' in question) return question;
  if (question === undefined) {
    return {
      kind: 'unknown',
      reason: `only incoming messages can show whether the secrets for ${name} work`,
    };
  }
  const { host } = new URL(question.url);
  const asked = clock();
  try {
    const response = await fetch(question.url, { ...question.init, redirect: 'manual', signal });
    const answered = clock();
    const text = (await response.text()).slice(0, MAX_ANSWER);
    const answer = { status: response.status, body: parseJson(text), headers: response.headers };
    if (response.status >= 500 || response.status === 429)
      return createRetryLaterProblem(name, response.status);
    const reading = question.read(answer);
    if (reading.kind === 'refused') {
      return { kind: 'problem', reason: reading.reason, fix: reading.fix, retryable: false };
    }
    const { as, warning: reason, fix = '' } = reading;
    const time = measureClockSkew(host, response.headers.get('date'), { asked, answered });
    return {
      ...{ kind: 'works', as, clock: time },
      warnings: reason === undefined ? [] : [{ reason, fix }],
    };
  } catch (thrown) {
    return {
      kind: 'problem',
      reason: `${host} cannot be reached: ${removeSecrets(reasonOf(thrown), options)}`,
      fix: `Check this machine's network and DNS: ${host} must be reachable.`,
      retryable: true,
    };
  }
}

/**
 * The error message of a failed request may quote the header that could not be sent, which contains
 * the secret.
 */
function removeSecrets(reason: string, options: AccountOptions): string {
  return Object.values(options)
    .filter((value) => typeof value === 'string' && value !== '')
    .reduce<string>((shown, value) => shown.replaceAll(String(value), '(hidden)'), reason);
}

function createRetryLaterProblem(name: string, status: number): ChannelProbe {
  const reason = `${name} answered with status ${status}`;
  return { kind: 'problem', reason, fix: 'Try again later.', retryable: true };
}

function parseJson(text: string): unknown {
  try {
    return withoutNulls(JSON.parse(text));
  } catch {
    return {};
  }
}

type ProbeProblem = Extract<ChannelProbe, { readonly kind: 'problem' }>;
type CreateIdentityRequest = (
  options: AccountOptions,
  clock: () => number,
) => IdentityRequest | ProbeProblem | undefined;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const bearer = (token: unknown) => ({ authorization: `Bearer ${textOf(token)}` });

const QUESTIONS: Readonly<Record<string, CreateIdentityRequest>> = {
  '@chat-adapter/slack': createSlackIdentityRequest,
  '@chat-adapter/github': createGitHubIdentityRequest,
  '@chat-adapter/linear': createLinearIdentityRequest,
  '@chat-adapter/whatsapp': createWhatsAppIdentityRequest,
};

const SlackAnswer = z.object({
  ok: z.boolean().default(false),
  error: z.string().optional(),
  user: z.string().default('the bot'),
  team: z.string().default('a workspace'),
});
/** Without these permissions, the bot cannot receive or answer messages. */
const SLACK_SCOPES = ['chat:write', 'app_mentions:read', 'im:history'];

function createSlackIdentityRequest({ botToken, apiUrl }: AccountOptions): IdentityRequest {
  const url = `${(textOf(apiUrl) || 'https://slack.com/api/').replace(/\/*$/, '/')}auth.test`;
  return {
    url,
    init: { method: 'POST', headers: bearer(botToken) },
    read({ body, headers }) {
      const { ok, error = 'an unreadable response', user, team } = SlackAnswer.parse(body);
      if (!ok) {
        return {
          kind: 'refused',
          reason: `Slack refuses the bot token (${error})`,
          fix: 'Copy it again from the page OAuth & Permissions of your app at api.slack.com/apps. If the app was removed, install it in the workspace first.',
        };
      }
      const scopes = headers
        .get('x-oauth-scopes')
        ?.split(',')
        .map((one) => one.trim());
      const missing = scopes ? SLACK_SCOPES.filter((one) => !scopes.includes(one)) : [];
      if (missing.length === 0) return { kind: 'works', as: `@${user} in ${team}` };
      return {
        ...{ kind: 'works', as: `@${user} in ${team}` },
        warning: `The app does not have ${missing.join(' or ')}`,
        fix: 'Add the missing scopes under OAuth & Permissions, Bot Token Scopes, and install the app again.',
      };
    },
  };
}

const GitHubUser = z.object({ login: z.string() });
const GitHubApp = z.object({ slug: z.string() });

function createGitHubIdentityRequest(
  options: AccountOptions,
  clock: () => number,
): IdentityRequest | ProbeProblem {
  const { token, appId, privateKey, userName, apiUrl } = options;
  const root = (textOf(apiUrl) || 'https://api.github.com').replace(/\/+$/, '');
  const isApp = token === undefined;
  const bearerToken = isApp ? signAppToken(textOf(appId), textOf(privateKey), clock()) : token;
  if (bearerToken === null) {
    const fix = "Generate a private key on the GitHub App's page, and use the file unchanged.";
    return { kind: 'problem', reason: 'the private key cannot be used', fix, retryable: false };
  }
  return {
    url: `${root}/${isApp ? 'app' : 'user'}`,
    init: {
      headers: {
        ...bearer(bearerToken),
        accept: 'application/vnd.github+json',
        'user-agent': 'parley',
      },
    },
    read({ status, body }) {
      const found = isApp
        ? GitHubApp.safeParse(body).data?.slug
        : GitHubUser.safeParse(body).data?.login;
      if (status !== 200 || found === undefined) {
        const what = isApp ? 'the app id with this private key' : 'the token';
        return {
          kind: 'refused',
          reason: `GitHub refuses ${what} (status ${status})`,
          fix: isApp
            ? "On the GitHub App's page, copy the App ID and generate a private key."
            : 'Create a token under Settings, Developer settings, Personal access tokens.',
        };
      }
      const named = textOf(userName).replace(/^@|\[bot\]$/g, '');
      if (named.toLowerCase() === found.toLowerCase()) return { kind: 'works', as: `@${found}` };
      return {
        ...{ kind: 'works', as: `@${found}` },
        warning: `userName is ${named}, so mentions of @${found} are not seen`,
        fix: `Set userName to ${found}.`,
      };
    },
  };
}

/** The lifetime (s) of an app token; GitHub allows ten minutes. */
const APP_TOKEN_SECONDS = 300;

/** The signed token with which a GitHub App identifies itself; null if the key is unusable. */
function signAppToken(appId: string, privateKey: string, now: number): string | null {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const at = Math.floor(now / 1_000);
  // The time is a minute in the past, because GitHub's clock may be behind.
  const claims = { iss: appId, iat: at - 60, exp: at + APP_TOKEN_SECONDS };
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
  try {
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
  } catch {
    return null;
  }
}

const LinearAnswer = z.object({
  data: z.object({
    viewer: z.object({ displayName: z.string().optional(), name: z.string() }),
    organization: z.object({ name: z.string() }),
  }),
});

function createLinearIdentityRequest({
  apiKey,
  accessToken,
  apiUrl,
}: AccountOptions): IdentityRequest | undefined {
  if (apiKey === undefined && accessToken === undefined) return undefined;
  const query = '{ viewer { name displayName } organization { name } }';
  const authorization = apiKey === undefined ? bearer(accessToken).authorization : textOf(apiKey);
  return {
    url: textOf(apiUrl) || 'https://api.linear.app/graphql',
    init: {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    },
    read({ status, body }) {
      const found = LinearAnswer.safeParse(body).data?.data;
      if (found === undefined) {
        return {
          kind: 'refused',
          reason: `Linear refuses the ${apiKey === undefined ? 'access token' : 'API key'} (status ${status})`,
          fix: 'With the account that answers, create an API key under Settings, Security & access.',
        };
      }
      const { viewer, organization } = found;
      return { kind: 'works', as: `@${viewer.displayName ?? viewer.name} in ${organization.name}` };
    },
  };
}

const WhatsAppNumber = z.object({
  display_phone_number: z.string(),
  verified_name: z.string().optional(),
});
const GRAPH_VERSION = 'v25.0';

function createWhatsAppIdentityRequest(options: AccountOptions): IdentityRequest {
  const { accessToken, phoneNumberId, apiUrl, apiVersion } = options;
  const root = (textOf(apiUrl) || 'https://graph.facebook.com').replace(/\/+$/, '');
  const version = textOf(apiVersion) || GRAPH_VERSION;
  return {
    url: `${root}/${version}/${textOf(phoneNumberId)}?fields=display_phone_number,verified_name`,
    init: { headers: bearer(accessToken) },
    read({ status, body }) {
      const found = WhatsAppNumber.safeParse(body).data;
      if (found !== undefined) {
        const { display_phone_number: number, verified_name: name } = found;
        return { kind: 'works', as: name === undefined ? number : `${name} (${number})` };
      }
      return {
        kind: 'refused',
        reason: `Meta refuses the access token, or does not recognize the phone number id (status ${status})`,
        fix: 'Create a permanent token for a system user with access to the app and the WhatsApp account, and copy the phone number id from the page API Setup.',
      };
    },
  };
}
