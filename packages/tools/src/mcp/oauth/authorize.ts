import { timingSafeEqual } from 'node:crypto';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { type Clock, ParleyError, reasonOf } from '@parley/core';
import type { FetchPublic } from '../../web/public-fetch.ts';
import { toCleanLine } from '../clean.ts';
import { checkAuthorizationUrl, createGuardedFetch } from './guarded-fetch.ts';
import {
  getFixedClient,
  getIssuer,
  isClientUnknown,
  type OAuthSettings,
  type SignInState,
  type SignInTokens,
  type SignInVault,
  selectStateForUrl,
  toStoredTokens,
} from './sign-in-state.ts';

export interface SignInServer {
  readonly name: string;
  readonly url: string;
  readonly oauth: OAuthSettings;
  readonly vault: SignInVault;
  readonly fetchPublic: FetchPublic;
}

interface SignInDeps {
  readonly clock: Clock;
  /** Unguessable. */
  readonly newState: () => string;
}

/** How long a person may take to sign in, in ms. */
const TIMEOUT_MS = 15 * 60_000;
const MAX_WORDS = 400;

/** A failed sign-in; the message is worded for people. */
export class SignInError extends ParleyError {
  constructor(message: string, cause?: unknown) {
    super({ code: 'mcp-sign-in-failed', message, retryable: true, cause });
  }
}

/** The state of a sign-in while the library runs its steps. */
type SignInDraft = { -readonly [Key in keyof SignInState]: SignInState[Key] } & {
  verifier?: string;
  page?: URL;
};

/**
 * Starts a sign-in: finds the authorization server (RFC 9728, RFC 8414), registers Parley there if
 * necessary, and returns the URL to open in the browser. The browser returns to `redirectUrl`, and
 * only `session` may complete the sign-in.
 */
export async function beginSignIn(
  server: SignInServer,
  { redirectUrl, session }: { readonly redirectUrl: string; readonly session: string },
  { clock, newState }: SignInDeps,
): Promise<string> {
  const { url, vault } = server;
  return await vault.update(async (kept) => {
    const now = selectStateForUrl(url, kept);
    const { discovery: _old, client, ...rest } = now;
    // An unfinished sign-in may mean that the authorization server no longer knows the
    // registration.
    const isKnown = client !== undefined && now.pending === undefined;
    const draft: SignInDraft = { ...rest, ...(isKnown && { client }) };
    const state = newState();
    await runSignInSteps(server, draft, { redirectUrl, state });
    const { page, verifier, ...next } = draft;
    if (page === undefined || verifier === undefined) {
      throw new SignInError(`${server.name} does not name a sign-in page.`);
    }
    checkAuthorizationServer(server, draft);
    checkSignInPage(server, page);
    const expiresAt = clock() + TIMEOUT_MS;
    const pending = { state, verifier, redirectUrl, session, expiresAt };
    return { next: { ...next, tokens: now.tokens, pending }, result: page.href };
  });
}

/**
 * Checks that the authorization server is allowed. If the operator has named an authorization
 * server, the MCP server cannot send people and their credentials to another one.
 */
function checkAuthorizationServer({ name, oauth }: SignInServer, { discovery }: SignInDraft): void {
  const { issuer: named } = oauth;
  const found = discovery?.authorizationServerUrl;
  if (named === undefined || found === undefined) return;
  if (new URL(named).origin === new URL(found).origin) return;
  throw new SignInError(
    `${name} names ${new URL(found).origin} for signing in instead of the authorization server in its settings.`,
  );
}

function checkSignInPage({ name, url }: SignInServer, page: URL): void {
  try {
    checkAuthorizationUrl(page, url);
  } catch (error) {
    throw new SignInError(`Signing in to ${name} failed: ${reasonOf(error)}.`, error);
  }
}

/** The parameters of the redirect back to Parley. */
export interface SignInCallbackParams {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
  readonly errorDescription?: string | undefined;
}

/**
 * Completes a sign-in: exchanges the code for tokens, once, for the session that started it.
 * Returns the name of the server.
 */
export async function finishSignIn(
  servers: readonly SignInServer[],
  answer: SignInCallbackParams,
  session: string,
  { clock }: Pick<SignInDeps, 'clock'>,
): Promise<string> {
  for (const server of servers) {
    const pending = selectStateForUrl(server.url, await server.vault.read()).pending;
    if (pending === undefined || !isSameSecret(pending.state, answer.state)) continue;
    if (!isSameSecret(pending.session, session)) {
      throw new SignInError('This sign-in was started in another browser. Start it again here.');
    }
    await exchangeCode(server, answer, clock);
    return server.name;
  }
  throw new SignInError('This sign-in is unknown or was already used. Start it again.');
}

async function exchangeCode(
  server: SignInServer,
  answer: SignInCallbackParams,
  clock: Clock,
): Promise<void> {
  const failure = await server.vault.update(async (kept) => {
    const now = selectStateForUrl(server.url, kept);
    // A sign-in can be completed only once, even if it fails.
    const { pending, ...rest } = now;
    const { client: _unknown, ...withoutClient } = rest;
    const failed = (why: string, cause?: unknown) => ({
      next: isClientUnknown(cause) ? withoutClient : rest,
      result: new SignInError(`${server.name} did not let you in: ${why}`, cause),
    });
    if (pending === undefined || !isSameSecret(pending.state, answer.state))
      return failed('the sign-in is no longer pending.');
    if (pending.expiresAt < clock()) return failed('it took too long. Start it again.');
    if (answer.code === undefined) return failed(createSignInRefusal(answer));
    try {
      const tokens = await requestTokens(
        server,
        rest,
        pending,
        { ...answer, code: answer.code },
        clock,
      );
      return { next: { ...rest, tokens }, result: null };
    } catch (error) {
      return failed(`${toCleanLine(reasonOf(error), MAX_WORDS)}.`, error);
    }
  });
  if (failure !== null) throw failure;
}

/** Exchanges the code only with the authorization server at which the sign-in started. */
async function requestTokens(
  { url, oauth, fetchPublic }: SignInServer,
  { discovery, client }: SignInState,
  { verifier, redirectUrl }: NonNullable<SignInState['pending']>,
  { code, iss }: SignInCallbackParams & { readonly code: string },
  clock: Clock,
): Promise<SignInTokens> {
  const information = getFixedClient(oauth) ?? client?.information;
  if (discovery === undefined || information === undefined)
    throw new Error('the sign-in was not started');
  const { exchangeAuthorization } = await import('@modelcontextprotocol/client');
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovery;
  const given = await exchangeAuthorization(authorizationServerUrl, {
    ...(metadata !== undefined && { metadata }),
    clientInformation: information,
    authorizationCode: code,
    // A response from another issuer is rejected (RFC 9207).
    ...(iss !== undefined && { iss }),
    codeVerifier: verifier,
    redirectUri: redirectUrl,
    resource: discovery.resourceMetadata?.resource ?? url,
    fetchFn: createGuardedFetch(url, listTrustedIssuers(oauth), fetchPublic),
  });
  return toStoredTokens({ ...given, issuer: getIssuer(discovery) }, clock());
}

/** The issuers that the operator trusts; they may be in a private network. */
function listTrustedIssuers({ issuer }: OAuthSettings): readonly string[] {
  return issuer === undefined ? [] : [issuer];
}

function createSignInRefusal({
  error = 'no reason given',
  errorDescription = '',
}: SignInCallbackParams): string {
  return toCleanLine([error, errorDescription].filter((part) => part !== '').join(': '), MAX_WORDS);
}

function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

interface SignInAttempt {
  readonly redirectUrl: string;
  readonly state: string;
}

/** Runs the library's steps until the sign-in page is known. */
async function runSignInSteps(
  server: SignInServer,
  draft: SignInDraft,
  round: SignInAttempt,
): Promise<void> {
  const { url, oauth, fetchPublic } = server;
  const { auth } = await import('@modelcontextprotocol/client');
  const { metadataUrl, scope = oauth.scope } = draft.challenge ?? {};
  try {
    await auth(createProvider(oauth, draft, round), {
      serverUrl: url,
      fetchFn: createGuardedFetch(url, listTrustedIssuers(oauth), fetchPublic),
      ...(scope !== undefined && { scope }),
      ...(metadataUrl !== undefined && { resourceMetadataUrl: new URL(metadataUrl) }),
    });
  } catch (error) {
    const why = toCleanLine(reasonOf(error), MAX_WORDS);
    const otherwise = 'If it accepts a key instead, put the key into “headers” in its settings.';
    throw new SignInError(`Signing in to ${server.name} failed: ${why}. ${otherwise}`, error);
  }
}

function createProvider(
  oauth: OAuthSettings,
  draft: SignInDraft,
  { redirectUrl, state }: SignInAttempt,
): OAuthClientProvider {
  const fixed = getFixedClient(oauth);
  const { clientMetadataUrl, scope } = oauth;
  return {
    redirectUrl,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Parley',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(scope !== undefined && { scope }),
    },
    state: () => state,
    clientInformation: (at) => {
      // The registration belongs to the discovered issuer; the `issuer` setting restricts which
      // issuers are allowed.
      if (fixed !== undefined) return { ...fixed, ...(at !== undefined && { issuer: at.issuer }) };
      // A registration for another redirect URL would be rejected.
      return draft.client?.redirectUrl === redirectUrl ? draft.client.information : undefined;
    },
    saveClientInformation: (information) => {
      draft.client = { information, redirectUrl };
    },
    // A new sign-in must not reuse existing tokens.
    tokens: () => undefined,
    // The code is exchanged outside the library's steps, which would start over after a refusal.
    saveTokens: () => {},
    saveCodeVerifier: (verifier) => {
      draft.verifier = verifier;
    },
    codeVerifier: () => draft.verifier ?? '',
    redirectToAuthorization: (page) => {
      draft.page = page;
    },
    discoveryState: () => draft.discovery,
    saveDiscoveryState: (discovery) => {
      draft.discovery = discovery;
    },
  };
}
