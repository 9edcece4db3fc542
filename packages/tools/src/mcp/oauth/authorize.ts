import { timingSafeEqual } from 'node:crypto';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { type Clock, ParleyError, reasonOf } from '@parley/core';
import type { FetchPublic } from '../../web/public-fetch.ts';
import { cleanLine } from '../clean.ts';
import { checkAuthorizationUrl, guardedFetch } from './guarded-fetch.ts';
import {
  fixedClient,
  isClientUnknown,
  issuerOf,
  type OAuthSettings,
  type SignInState,
  type SignInTokens,
  type SignInVault,
  stateFor,
  tokensFrom,
} from './sign-in-state.ts';

/** One server that people sign in at. */
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

/** A person has this long to sign in. In ms. */
const TIMEOUT_MS = 15 * 60_000;
const MAX_WORDS = 400;

/** Why a sign-in did not work, as a text for people. */
export class SignInError extends ParleyError {
  constructor(message: string, cause?: unknown) {
    super({ code: 'mcp-sign-in-failed', message, retryable: true, cause });
  }
}

/** The state of a sign-in while the library does its steps. */
type Draft = { -readonly [Key in keyof SignInState]: SignInState[Key] } & {
  verifier?: string;
  page?: URL;
};

/**
 * Begins a sign-in: finds out who lets people in (RFC 9728, RFC 8414), registers Parley there where that is needed, and
 * returns the address to send the browser to. `redirectUrl`: where it comes back; `session`: who must bring it back.
 */
export async function beginSignIn(
  server: SignInServer,
  { redirectUrl, session }: { readonly redirectUrl: string; readonly session: string },
  { clock, newState }: SignInDeps,
): Promise<string> {
  const { url, vault } = server;
  return await vault.update(async (kept) => {
    const now = stateFor(url, kept);
    const { discovery: _old, client, ...rest } = now;
    // One that was begun and not finished may have failed because Parley is no longer known there.
    const isKnown = client !== undefined && now.pending === undefined;
    const draft: Draft = { ...rest, ...(isKnown && { client }) };
    const state = newState();
    await runSteps(server, draft, { redirectUrl, state });
    const { page, verifier, ...next } = draft;
    if (page === undefined || verifier === undefined) {
      throw new SignInError(`${server.name} names no page to sign in at.`);
    }
    checkAuthorizationServer(server, draft);
    checkPage(server, page);
    const expiresAt = clock() + TIMEOUT_MS;
    const pending = { state, verifier, redirectUrl, session, expiresAt };
    return { next: { ...next, tokens: now.tokens, pending }, result: page.href };
  });
}

/**
 * Checks the authorization server. Where the operator has named one, the MCP server cannot send people and their
 * credentials elsewhere.
 */
function checkAuthorizationServer({ name, oauth }: SignInServer, { discovery }: Draft): void {
  const { issuer: named } = oauth;
  const found = discovery?.authorizationServerUrl;
  if (named === undefined || found === undefined) return;
  if (new URL(named).origin === new URL(found).origin) return;
  throw new SignInError(
    `${name} names ${new URL(found).origin} to sign in at, and not the authorization server of its settings.`,
  );
}

function checkPage({ name, url }: SignInServer, page: URL): void {
  try {
    checkAuthorizationUrl(page, url);
  } catch (error) {
    throw new SignInError(`${name} cannot be signed in at: ${reasonOf(error)}.`, error);
  }
}

/** The parameters that the browser brought back. */
export interface SignInAnswer {
  readonly state: string;
  readonly code?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
  readonly errorDescription?: string | undefined;
}

/** Ends a sign-in: the code becomes tokens, once, for the session that began it. Returns the name of the server. */
export async function finishSignIn(
  servers: readonly SignInServer[],
  answer: SignInAnswer,
  session: string,
  { clock }: Pick<SignInDeps, 'clock'>,
): Promise<string> {
  for (const server of servers) {
    const pending = stateFor(server.url, await server.vault.read()).pending;
    if (pending === undefined || !isSameSecret(pending.state, answer.state)) continue;
    if (!isSameSecret(pending.session, session)) {
      throw new SignInError('This sign-in was begun in another browser. Begin it again here.');
    }
    await exchange(server, answer, clock);
    return server.name;
  }
  throw new SignInError('This sign-in is not known, or was used before. Begin it again.');
}

async function exchange(server: SignInServer, answer: SignInAnswer, clock: Clock): Promise<void> {
  const failure = await server.vault.update(async (kept) => {
    const now = stateFor(server.url, kept);
    // It counts once, however it ends.
    const { pending, ...rest } = now;
    const { client: _unknown, ...withoutClient } = rest;
    const failed = (why: string, cause?: unknown) => ({
      next: isClientUnknown(cause) ? withoutClient : rest,
      result: new SignInError(`${server.name} did not let you in: ${why}`, cause),
    });
    if (pending === undefined || !isSameSecret(pending.state, answer.state))
      return failed('it was ended.');
    if (pending.expiresAt < clock()) return failed('it took too long. Begin it again.');
    if (answer.code === undefined) return failed(refusalIn(answer));
    try {
      const tokens = await tokensForCode(
        server,
        rest,
        pending,
        { ...answer, code: answer.code },
        clock,
      );
      return { next: { ...rest, tokens }, result: null };
    } catch (error) {
      return failed(`${cleanLine(reasonOf(error), MAX_WORDS)}.`, error);
    }
  });
  if (failure !== null) throw failure;
}

/** Exchanges the code where the sign-in began, and nowhere else. */
async function tokensForCode(
  { url, oauth, fetchPublic }: SignInServer,
  { discovery, client }: SignInState,
  { verifier, redirectUrl }: NonNullable<SignInState['pending']>,
  { code, iss }: SignInAnswer & { readonly code: string },
  clock: Clock,
): Promise<SignInTokens> {
  const information = fixedClient(oauth) ?? client?.information;
  if (discovery === undefined || information === undefined) throw new Error('it was not begun');
  const { exchangeAuthorization } = await import('@modelcontextprotocol/client');
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = discovery;
  const given = await exchangeAuthorization(authorizationServerUrl, {
    ...(metadata !== undefined && { metadata }),
    clientInformation: information,
    authorizationCode: code,
    // An answer from another issuer is refused (RFC 9207).
    ...(iss !== undefined && { iss }),
    codeVerifier: verifier,
    redirectUri: redirectUrl,
    resource: discovery.resourceMetadata?.resource ?? url,
    fetchFn: guardedFetch(url, trustedBy(oauth), fetchPublic),
  });
  return tokensFrom({ ...given, issuer: issuerOf(discovery) }, clock());
}

/** The issuers that the operator trusts, which may be in a private network. */
function trustedBy({ issuer }: OAuthSettings): readonly string[] {
  return issuer === undefined ? [] : [issuer];
}

function refusalIn({ error = 'no reason given', errorDescription = '' }: SignInAnswer): string {
  return cleanLine([error, errorDescription].filter((part) => part !== '').join(': '), MAX_WORDS);
}

function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

interface Round {
  readonly redirectUrl: string;
  readonly state: string;
}

/** The library's steps up to the page to sign in at. */
async function runSteps(server: SignInServer, draft: Draft, round: Round): Promise<void> {
  const { url, oauth, fetchPublic } = server;
  const { auth } = await import('@modelcontextprotocol/client');
  const { metadataUrl, scope = oauth.scope } = draft.challenge ?? {};
  try {
    await auth(providerOver(oauth, draft, round), {
      serverUrl: url,
      fetchFn: guardedFetch(url, trustedBy(oauth), fetchPublic),
      ...(scope !== undefined && { scope }),
      ...(metadataUrl !== undefined && { resourceMetadataUrl: new URL(metadataUrl) }),
    });
  } catch (error) {
    const why = cleanLine(reasonOf(error), MAX_WORDS);
    const otherwise = 'If it takes a key instead, put that into “headers” of its settings.';
    throw new SignInError(`${server.name} cannot be signed in at: ${why}. ${otherwise}`, error);
  }
}

function providerOver(
  oauth: OAuthSettings,
  draft: Draft,
  { redirectUrl, state }: Round,
): OAuthClientProvider {
  const fixed = fixedClient(oauth);
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
      // Named as that of whoever was found: `issuer` of the settings says who that may be.
      if (fixed !== undefined) return { ...fixed, ...(at !== undefined && { issuer: at.issuer }) };
      // What was registered for another address would be refused.
      return draft.client?.redirectUrl === redirectUrl ? draft.client.information : undefined;
    },
    saveClientInformation: (information) => {
      draft.client = { information, redirectUrl };
    },
    // Whoever signs in wants new ones.
    tokens: () => undefined,
    // The code is exchanged without the library's steps, which would begin again after a refusal.
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
