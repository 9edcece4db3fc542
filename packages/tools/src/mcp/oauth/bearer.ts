import type { AuthProvider } from '@modelcontextprotocol/client';
import { type Clock, reasonOf } from '@parley/core';
import type { FetchPublic } from '../../web/public-fetch.ts';
import { SignInRequiredError } from '../errors.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
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

interface BearerDeps {
  readonly url: string;
  readonly oauth: OAuthSettings;
  readonly vault: SignInVault;
  readonly clock: Clock;
  readonly fetchPublic: FetchPublic;
}

/** How long before its expiry a token is renewed, in ms. */
const EARLY_MS = 30_000;

/**
 * Supplies the access token for one connection's requests. The token is renewed before it expires
 * and when the server refuses it. Only one process at a time renews the token; the other processes
 * then use the new one. Throws SignInRequiredError when only a person can continue.
 */
export function createBearerAuthProvider(deps: BearerDeps): AuthProvider {
  const { url, vault, clock } = deps;
  let used: string | undefined;
  const renew = (challenge?: SignInState['challenge']) =>
    vault.update(async (kept) => {
      const now = selectStateForUrl(url, kept);
      const { tokens } = now;
      const asked = challenge === undefined ? now : { ...now, challenge };
      // Another request or process has already renewed the token.
      if (tokens !== undefined && tokens.access !== used) return { next: asked, result: 'renewed' };
      const renewed = tokens === undefined ? null : await renewTokens(deps, now, tokens);
      const { tokens: _old, ...rest } = asked;
      if (renewed !== null && renewed !== 'client-unknown') {
        return { next: { ...rest, tokens: renewed }, result: 'renewed' };
      }
      const { client: _unknown, ...withoutClient } = rest;
      return { next: renewed === null ? rest : withoutClient, result: 'sign-in' };
    });
  const current = async () => selectStateForUrl(url, await vault.read()).tokens;
  return {
    async token() {
      let tokens = await current();
      used = tokens?.access;
      const isOver = tokens?.expiresAt !== undefined && tokens.expiresAt - EARLY_MS < clock();
      if (isOver && tokens?.refresh !== undefined) {
        await renew();
        tokens = await current();
      }
      used = tokens?.access;
      return used;
    },
    async onUnauthorized({ response }) {
      const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      const challenge = {
        ...(resourceMetadataUrl !== undefined && { metadataUrl: resourceMetadataUrl.href }),
        ...(scope !== undefined && { scope }),
      };
      if ((await renew(challenge)) === 'sign-in') throw new SignInRequiredError();
    },
  };
}

/** Errors after which a later retry may succeed. */
const PASSING = /server_error|internal|unavailable|too_many|slow_down|rate.?limit|timeout/i;

/**
 * Returns null if a person has to sign in again, and `client-unknown` if the authorization server
 * no longer recognizes Parley's registration. Throws an error if a later retry may succeed.
 */
async function renewTokens(
  { url, oauth, clock, fetchPublic }: BearerDeps,
  { client, discovery }: SignInState,
  tokens: SignInTokens,
): Promise<SignInTokens | 'client-unknown' | null> {
  const { refresh, issuer } = tokens;
  const information = getFixedClient(oauth) ?? client?.information;
  if (refresh === undefined || information === undefined || discovery === undefined) return null;
  // The MCP server may now name another issuer, which must not receive this issuer's tokens.
  if (issuer !== undefined && issuer !== getIssuer(discovery)) return null;
  const { authorizationServerMetadata: metadata, resourceMetadata } = discovery;
  const resource = resourceMetadata?.resource;
  const { refreshAuthorization, OAuthError } = await import('@modelcontextprotocol/client');
  const trusted = oauth.issuer === undefined ? [] : [oauth.issuer];
  try {
    const given = await refreshAuthorization(discovery.authorizationServerUrl, {
      ...(metadata !== undefined && { metadata }),
      clientInformation: information,
      refreshToken: refresh,
      resource: resource ?? url,
      fetchFn: createGuardedFetch(url, trusted, fetchPublic),
    });
    return toStoredTokens({ ...given, ...(issuer !== undefined && { issuer }) }, clock(), tokens);
  } catch (error) {
    if (isClientUnknown(error)) return 'client-unknown';
    if (error instanceof OAuthError && !PASSING.test(error.code)) return null;
    throw new Error(`its token could not be renewed: ${reasonOf(error)}`, { cause: error });
  }
}
