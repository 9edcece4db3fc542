import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { FetchPublic } from '../../web/public-fetch.ts';

const Tokens = z.object({
  access: z.string().min(1),
  refresh: z.string().optional(),
  /** In ms; absent where the server does not say. */
  expiresAt: z.number().optional(),
  issuer: z.string().optional(),
});

/** As the library gave it to be kept. */
const Client = z.custom<StoredOAuthClientInformation>(
  (value) => z.looseObject({ client_id: z.string().min(1) }).safeParse(value).success,
);
const Discovery = z.custom<OAuthDiscoveryState>(
  (value) => z.looseObject({ authorizationServerUrl: z.url() }).safeParse(value).success,
);

/** A sign-in that has begun: what comes back must fit it. */
const Pending = z.object({
  state: z.string(),
  verifier: z.string(),
  redirectUrl: z.string(),
  /** The session of the page; an answer by another session is refused. */
  session: z.string(),
  expiresAt: z.number(),
});

/** The state of the sign-in at one server; stored like secrets. */
export const SignInState = z.object({
  /** The server that all of it is for. */
  url: z.string(),
  tokens: Tokens.optional(),
  /** The challenge of the server when it refused access. */
  challenge: z
    .object({ metadataUrl: z.string().optional(), scope: z.string().optional() })
    .optional(),
  /** The registration of Parley, for redirects to this address. */
  client: z.object({ information: Client, redirectUrl: z.string() }).optional(),
  /** The server's description of its authorization server, as the library keeps it. */
  discovery: Discovery.optional(),
  pending: Pending.optional(),
});
export type SignInState = Readonly<z.infer<typeof SignInState>>;
export type SignInTokens = z.infer<typeof Tokens>;

/** The store of the sign-in at one server. Processes share it. */
export interface SignInVault {
  read(): Promise<SignInState | null>;
  /** One at a time among all processes: no two may use the same refresh token. `next`: what is kept from then on. */
  update<Result>(
    work: (
      now: SignInState | null,
    ) => Promise<{ readonly next: SignInState; readonly result: Result }>,
  ): Promise<Result>;
}

/** The services of signing in at one server. */
export interface SignInMeans {
  readonly vault: SignInVault;
  readonly fetchPublic: FetchPublic;
}

/** The settings of signing in at one server. */
export interface OAuthSettings {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly clientMetadataUrl?: string | undefined;
  readonly scope?: string | undefined;
  readonly issuer?: string | undefined;
}

/** The registration in the settings; it has precedence over one that Parley made itself. */
export function fixedClient({ clientId, clientSecret }: OAuthSettings) {
  if (clientId === undefined) return undefined;
  return {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  };
}

/** The issuer: the name of the authorization server in tokens and answers. */
export function issuerOf(discovery: OAuthDiscoveryState): string {
  return discovery.authorizationServerMetadata?.issuer ?? discovery.authorizationServerUrl;
}

/** Refusals after which the registration of Parley is of no use any more. */
export function isClientUnknown(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'invalid_client' || code === 'unauthorized_client';
}

/** The state for this address: what is kept for another is of no use. */
export function stateFor(url: string, kept: SignInState | null): SignInState {
  return kept?.url === url ? kept : { url };
}

/** All that must never be shown. The state of a sign-in is not among it: the browser carries it. */
export function secretsIn({ tokens, client, pending }: SignInState): readonly string[] {
  return [
    tokens?.access,
    tokens?.refresh,
    client?.information.client_secret,
    registrationTokenIn(client?.information),
    pending?.verifier,
  ].filter((one) => one !== undefined);
}

/** The token that changes the registration of Parley, where the server gave one (RFC 7592). */
function registrationTokenIn(information: object | undefined): string | undefined {
  const { registration_access_token: token } = z
    .object({ registration_access_token: z.string().optional() })
    .catch({})
    .parse(information ?? {});
  return token;
}

/** Tokens as the library gives them, for keeping. A refresh token that is not replaced stays. */
export function tokensFrom(
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
  // Some write 0 for a token without an end.
  const hasEnd = seconds !== undefined && seconds > 0;
  return {
    access,
    ...(refresh !== undefined && { refresh }),
    ...(hasEnd && { expiresAt: now + seconds * 1_000 }),
    ...(issuer !== undefined && { issuer }),
  };
}
