import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { FetchPublic } from '../../web/public-fetch.ts';

const Tokens = z.object({
  access: z.string().min(1),
  refresh: z.string().optional(),
  /** When the token expires, in ms since 1970; absent if the server does not state it. */
  expiresAt: z.number().optional(),
  issuer: z.string().optional(),
});

/** The registration in the library's own format. */
const Client = z.custom<StoredOAuthClientInformation>(
  (value) => z.looseObject({ client_id: z.string().min(1) }).safeParse(value).success,
);
const Discovery = z.custom<OAuthDiscoveryState>(
  (value) => z.looseObject({ authorizationServerUrl: z.url() }).safeParse(value).success,
);

/** A sign-in in progress, which the redirect back must match. */
const Pending = z.object({
  state: z.string(),
  verifier: z.string(),
  redirectUrl: z.string(),
  /** The browser session that started the sign-in; redirects in another session are refused. */
  session: z.string(),
  expiresAt: z.number(),
});

/** The state of the sign-in at one server; stored like a secret. */
export const SignInState = z.object({
  /** The URL of the server that this state belongs to. */
  url: z.string(),
  tokens: Tokens.optional(),
  /** The challenge that the server sent with its refusal. */
  challenge: z
    .object({ metadataUrl: z.string().optional(), scope: z.string().optional() })
    .optional(),
  /** Parley's registration for this redirect URL. */
  client: z.object({ information: Client, redirectUrl: z.string() }).optional(),
  /** The discovered authorization server, in the library's own format. */
  discovery: Discovery.optional(),
  pending: Pending.optional(),
});
export type SignInState = Readonly<z.infer<typeof SignInState>>;
export type SignInTokens = z.infer<typeof Tokens>;

/** The store of the sign-in at one server, shared by all processes. */
export interface SignInVault {
  read(): Promise<SignInState | null>;
  /**
   * Runs one update at a time across all processes, because a refresh token must not be used twice.
   */
  update<Result>(
    work: (
      now: SignInState | null,
    ) => Promise<{ readonly next: SignInState; readonly result: Result }>,
  ): Promise<Result>;
}

export interface SignInServices {
  readonly vault: SignInVault;
  readonly fetchPublic: FetchPublic;
}

/** The sign-in settings of one server. */
export interface OAuthSettings {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly clientMetadataUrl?: string | undefined;
  readonly scope?: string | undefined;
  readonly issuer?: string | undefined;
}

/**
 * The client registration from the settings, which takes precedence over one that Parley made
 * itself.
 */
export function getFixedClient({ clientId, clientSecret }: OAuthSettings) {
  if (clientId === undefined) return undefined;
  return {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  };
}

/** The issuer: the name of the authorization server in tokens and answers. */
export function getIssuer(discovery: OAuthDiscoveryState): string {
  return discovery.authorizationServerMetadata?.issuer ?? discovery.authorizationServerUrl;
}

/** Whether an error means that Parley's registration is no longer valid. */
export function isClientUnknown(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'invalid_client' || code === 'unauthorized_client';
}

/** Returns the stored state for this URL; the state of another URL is discarded. */
export function selectStateForUrl(url: string, kept: SignInState | null): SignInState {
  return kept?.url === url ? kept : { url };
}

/**
 * Returns the values that must never be shown. `state` is not secret, because it passes through the
 * browser.
 */
export function listSecrets({ tokens, client, pending }: SignInState): readonly string[] {
  return [
    tokens?.access,
    tokens?.refresh,
    client?.information.client_secret,
    findRegistrationToken(client?.information),
    pending?.verifier,
  ].filter((one) => one !== undefined);
}

/** The token that manages Parley's registration, if the server issued one (RFC 7592). */
function findRegistrationToken(information: object | undefined): string | undefined {
  const { registration_access_token: token } = z
    .object({ registration_access_token: z.string().optional() })
    .catch({})
    .parse(information ?? {});
  return token;
}

/**
 * Converts the library's tokens for storage. The old refresh token is kept if there is no new one.
 */
export function toStoredTokens(
  given: {
    readonly access_token: string;
    readonly refresh_token?: string | undefined;
    readonly expires_in?: number | undefined;
    readonly issuer?: string | undefined;
  },
  now: number,
  before?: SignInTokens,
): SignInTokens {
  const {
    access_token: access,
    refresh_token: refresh = before?.refresh,
    expires_in: seconds,
  } = given;
  const issuer = given.issuer ?? before?.issuer;
  // Some servers send 0 for a token that does not expire.
  const hasEnd = seconds !== undefined && seconds > 0;
  return {
    access,
    ...(refresh !== undefined && { refresh }),
    ...(hasEnd && { expiresAt: now + seconds * 1_000 }),
    ...(issuer !== undefined && { issuer }),
  };
}
