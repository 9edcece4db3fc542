import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/*
 * For tests: an MCP server over HTTP that requires a sign-in, and the authorization server it
 * names, at another address. A refresh token can be used once; using it again revokes its whole
 * family, as real servers do.
 */

/** What a test can control and observe. */
export interface GuardedServer {
  readonly url: string;
  /** The grants of tokens in order: `code` or `refresh`. */
  readonly grants: readonly string[];
  /** How often a refresh token was used a second time. */
  readonly reused: () => number;
  readonly registrations: () => number;
  /** How many calls of the server's tool were accepted. */
  readonly calls: () => number;
  /** Expires all access tokens; refresh tokens stay valid. */
  expire(): void;
  /** Revokes all tokens. */
  revoke(): void;
  /** Sets the token lifetime that the server reports, in seconds. */
  lifetime(seconds: number): void;
  /** Makes the metadata name this authorization server instead of the actual one. */
  nameInstead(authorizationServer: string): void;
  /** Registers a client manually, as an operator does. */
  addClient(id: string, redirectUrl: string): void;
  /** Forgets all clients and all tokens. */
  forgetClients(): void;
  /** Answers every token request with this error; null for none. */
  refuseTokens(error: string | null): void;
  /** How often a token refresh was requested. */
  readonly refreshesAsked: () => number;
  /**
   * Acts as the person in the browser: opens the page, agrees and follows the redirect. Returns its
   * URL.
   */
  agree(page: string): Promise<URL>;
  close(): void;
}

interface TokenGrant {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly resource: string;
}

const secret = (kind: string): string => `${kind}-${randomBytes(18).toString('hex')}`;

interface GuardedState {
  readonly access: Set<string>;
  /** The refresh tokens, and whether each is still valid. */
  readonly refresh: Map<string, boolean>;
  readonly codes: Map<string, TokenGrant>;
  readonly clients: Map<string, readonly string[]>;
  readonly grants: string[];
  refusal: string | null;
  refreshesAsked: number;
  reused: number;
  calls: number;
  seconds: number;
  named: string;
  issuer: string;
  url: string;
}

export async function startGuardedServer(): Promise<GuardedServer> {
  const state: GuardedState = {
    ...{ access: new Set(), refresh: new Map(), codes: new Map(), clients: new Map(), grants: [] },
    ...{ refusal: null, refreshesAsked: 0 },
    ...{ reused: 0, calls: 0, seconds: 3_600, named: '', issuer: '', url: '' },
  };
  const authority = await listenOnLoopback(
    (request, response) => void authorize(state, request, response),
  );
  const guarded = await listenOnLoopback(
    (request, response) => void serveRequest(state, request, response),
  );
  state.issuer = authority.origin;
  state.url = `${guarded.origin}/mcp`;
  return {
    url: state.url,
    grants: state.grants,
    reused: () => state.reused,
    registrations: () => state.clients.size,
    calls: () => state.calls,
    expire: () => state.access.clear(),
    revoke: () => revokeAllTokens(state),
    lifetime: (seconds) => {
      state.seconds = seconds;
    },
    nameInstead: (named) => {
      state.named = named;
    },
    addClient: (id, redirectUrl) => void state.clients.set(id, [redirectUrl]),
    forgetClients() {
      state.clients.clear();
      revokeAllTokens(state);
    },
    refuseTokens(error) {
      state.refusal = error;
    },
    refreshesAsked: () => state.refreshesAsked,
    async agree(page) {
      const answer = await fetch(page, { redirect: 'manual' });
      return new URL(answer.headers.get('location') ?? 'about:blank');
    },
    close() {
      for (const { server } of [authority, guarded]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

async function serveRequest(
  state: GuardedState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.url === '/.well-known/oauth-protected-resource/mcp') {
    const servers = [state.named || state.issuer];
    return sendJson(response, 200, { resource: state.url, authorization_servers: servers });
  }
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (!state.access.has(token)) {
    const metadata = `${new URL(state.url).origin}/.well-known/oauth-protected-resource/mcp`;
    response.setHeader('www-authenticate', `Bearer resource_metadata="${metadata}", scope="tools"`);
    return sendJson(response, 401, { error: 'invalid_token' });
  }
  const body = await readBody(request);
  if (body === '') return void response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return void response.writeHead(202).end();
  sendJson(response, 200, { jsonrpc: '2.0', id, ...answerMethod(method, params, state) });
}

async function authorize(
  state: GuardedState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const at = new URL(request.url ?? '/', state.issuer);
  const body = await readBody(request);
  switch (at.pathname) {
    case '/.well-known/oauth-authorization-server':
      return sendJson(response, 200, createMetadata(state.issuer));
    case '/register': {
      const { redirect_uris: uris } = JSON.parse(body);
      const id = secret('client');
      state.clients.set(id, uris);
      return sendJson(response, 201, { client_id: id, redirect_uris: uris });
    }
    case '/authorize':
      return approveRequest(state, at.searchParams, response);
    case '/token':
      return sendJson(response, ...issueToken(state, new URLSearchParams(body)));
    default:
      response.writeHead(404).end();
  }
}

function approveRequest(
  state: GuardedState,
  asked: URLSearchParams,
  response: ServerResponse,
): void {
  const [redirectUri = '', client = ''] = ['redirect_uri', 'client_id'].map(
    (name) => asked.get(name) ?? '',
  );
  if (!state.clients.get(client)?.includes(redirectUri)) {
    sendJson(response, 400, { error: 'invalid_request' });
    return;
  }
  const code = secret('code');
  const [challenge, resource] = ['code_challenge', 'resource'].map((name) => asked.get(name) ?? '');
  state.codes.set(code, { challenge: challenge ?? '', redirectUri, resource: resource ?? '' });
  const back = new URL(redirectUri);
  const answer = { code, state: asked.get('state') ?? '', iss: state.issuer };
  for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
  response.writeHead(302, { location: back.href }).end();
}

function issueToken(state: GuardedState, asked: URLSearchParams): readonly [number, object] {
  const isRefresh = asked.get('grant_type') === 'refresh_token';
  if (isRefresh) state.refreshesAsked += 1;
  if (state.refusal !== null) return [503, { error: state.refusal }];
  if (!state.clients.has(asked.get('client_id') ?? '')) return [401, { error: 'invalid_client' }];
  if (isRefresh) return renewToken(state, asked.get('refresh_token') ?? '');
  const code = asked.get('code') ?? '';
  const grant = state.codes.get(code);
  state.codes.delete(code);
  const verifier = asked.get('code_verifier') ?? '';
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const fits =
    grant?.challenge === challenge &&
    grant.redirectUri === asked.get('redirect_uri') &&
    grant.resource === state.url &&
    asked.get('resource') === state.url;
  if (!fits) return [400, { error: 'invalid_grant' }];
  state.grants.push('code');
  return [200, createTokens(state)];
}

function renewToken(state: GuardedState, token: string): readonly [number, object] {
  const isFresh = state.refresh.get(token);
  if (isFresh === undefined) return [400, { error: 'invalid_grant' }];
  if (!isFresh) {
    // Two clients hold the same token, and one of them may have stolen it.
    state.reused += 1;
    revokeAllTokens(state);
    return [400, { error: 'invalid_grant' }];
  }
  state.refresh.set(token, false);
  state.grants.push('refresh');
  return [200, createTokens(state)];
}

function createTokens(state: GuardedState): object {
  const [access, refresh] = [secret('access'), secret('refresh')];
  state.access.add(access);
  state.refresh.set(refresh, true);
  return {
    ...{ access_token: access, refresh_token: refresh },
    ...{ token_type: 'Bearer', expires_in: state.seconds },
  };
}

function revokeAllTokens(state: GuardedState): void {
  state.access.clear();
  state.refresh.clear();
}

function createMetadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  };
}

function answerMethod(
  method: string,
  params: { protocolVersion?: string },
  state: { calls: number },
) {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo: {} } };
    }
    case 'tools/list':
      return { result: { tools: [{ name: 'look', inputSchema: { type: 'object' } }] } };
    case 'tools/call':
      state.calls += 1;
      return { result: { content: [{ type: 'text', text: 'Seen.' }] } };
    default:
      return { error: { code: -32_601, message: 'no such method' } };
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await request.toArray()).toString('utf8');
}

async function listenOnLoopback(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, origin: `http://127.0.0.1:${address.port}` };
}
