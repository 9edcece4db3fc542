import { systemTime } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchPublic } from '../../web/public-fetch.ts';
import { type McpServers, openMcpServers } from '../servers.ts';
import { type GuardedServer, startGuardedServer } from '../testing/guarded-server.ts';
import { beginSignIn, finishSignIn, type SignInCallbackParams } from './authorize.ts';
import { listSecrets, type OAuthSettings, SignInState, type SignInVault } from './sign-in-state.ts';

let guarded: GuardedServer;
let opened: McpServers[] = [];
beforeEach(async () => {
  guarded = await startGuardedServer();
});
afterEach(async () => {
  await Promise.all(opened.map((servers) => servers.close()));
  opened = [];
  guarded.close();
});

/** A vault in memory that serializes through JSON like a file and runs one update at a time. */
function memoryVault(): SignInVault & { readonly kept: () => SignInState | null } {
  let text = 'null';
  let last: Promise<unknown> = Promise.resolve();
  const kept = () => SignInState.nullable().parse(JSON.parse(text));
  return {
    kept,
    read: async () => kept(),
    update(work) {
      const made = last.then(async () => {
        const { next, result } = await work(kept());
        text = JSON.stringify(next);
        return result;
      });
      last = made.catch(() => {});
      return made;
    },
  };
}

const REDIRECT = 'http://127.0.0.1:8420/';

function scene(vault = memoryVault(), oauth: OAuthSettings = {}) {
  let now = systemTime.clock();
  let states = 0;
  const clock = () => now;
  const server = { name: 's', url: guarded.url, oauth, vault, fetchPublic };
  const deps = { clock, newState: () => `state ${++states}` };
  /** Connects with separate state, like another process. */
  const connect = () => {
    const { log, lines } = createRecordingLogger();
    const servers = openMcpServers(
      [{ name: 's', peer: { kind: 'http', url: guarded.url, headers: {}, oauth } }],
      {
        ...systemTime,
        env: {},
        clock,
        random: () => 0,
        log,
        signInAt: () => ({ vault, fetchPublic }),
      },
    );
    opened.push(servers);
    const state = () => servers.views()[0]?.state;
    return {
      lines,
      state,
      connected: () => expect.poll(() => state()?.kind, { timeout: 10_000 }).toBe('connected'),
      needsSignIn: () => expect.poll(() => state()).toMatchObject({ needsSignIn: true }),
      call: () => servers.call('s', 'look', {}, AbortSignal.timeout(10_000)),
    };
  };
  const begin = (session = 'mine', redirectUrl = REDIRECT) =>
    beginSignIn(server, { redirectUrl, session }, deps);
  const finish = (answer: SignInCallbackParams, session = 'mine') =>
    finishSignIn([server], answer, session, deps);
  const agree = async (page: string): Promise<SignInCallbackParams> => {
    const { searchParams } = await guarded.agree(page);
    return { state: '', ...Object.fromEntries(searchParams) };
  };
  return {
    ...{ vault, connect, begin, finish, agree },
    signIn: async () => finish(await agree(await begin())),
    later: (ms: number) => {
      now += ms;
    },
  };
}

const SEEN = { text: 'Seen.', failed: false };

describe('[G03] a server that requires a sign-in', () => {
  it('reports that a sign-in is required, waits for a person, and is used once that person has signed in', async () => {
    const { connect, begin, finish, agree, vault } = scene();
    const { needsSignIn, connected, call, state } = connect();
    await needsSignIn();
    expect(JSON.stringify(state())).toContain('click “Sign in” on the Status page');
    await expect(call()).rejects.toMatchObject({ code: 'mcp-not-connected' });
    const page = new URL(await begin());
    const asked = Object.fromEntries(page.searchParams);
    expect(asked).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: REDIRECT,
      resource: guarded.url,
      scope: 'tools',
      state: 'state 1',
    });
    expect(await finish(await agree(page.href))).toBe('s');
    await connected();
    expect(await call()).toEqual(SEEN);
    expect(vault.kept()?.pending).toBeUndefined();
  });

  it('may revoke an access token, which is then renewed, and the call is executed once', async () => {
    const { connect, signIn } = scene();
    await signIn();
    const { connected, call } = connect();
    await connected();
    guarded.expire();
    expect(await call()).toEqual(SEEN);
    expect(guarded.grants).toEqual(['code', 'refresh']);
    expect(guarded.calls()).toBe(1);
  });

  it('may limit the lifetime of its token, which is then renewed before it expires', async () => {
    const { connect, signIn, later } = scene();
    guarded.lifetime(100);
    await signIn();
    const { connected, call } = connect();
    await connected();
    later(80_000);
    expect(await call()).toEqual(SEEN);
    expect(guarded.grants).toEqual(['code', 'refresh']);
  });

  it('may accept each refresh token only once, so one of two processes renews, and both continue', async () => {
    const { connect, signIn } = scene();
    await signIn();
    const processes = [connect(), connect()];
    for (const { connected } of processes) await connected();
    for (let round = 1; round <= 3; round += 1) {
      guarded.expire();
      expect(await Promise.all(processes.map(({ call }) => call()))).toEqual([SEEN, SEEN]);
      expect(guarded.grants).toHaveLength(1 + round);
    }
    expect(guarded.reused()).toBe(0);
  });

  it('may revoke all tokens, so a person has to sign in again, and the server works afterwards', async () => {
    const { connect, signIn, vault } = scene();
    await signIn();
    const { connected, needsSignIn, call } = connect();
    await connected();
    guarded.revoke();
    await expect(call()).rejects.toMatchObject({ code: 'mcp-sign-in' });
    await needsSignIn();
    expect(vault.kept()?.tokens).toBeUndefined();
    await signIn();
    await connected();
    expect(await call()).toEqual(SEEN);
    // The second sign-in reuses the registration.
    expect(guarded.registrations()).toBe(1);
  });

  it("may no longer recognize Parley's registration, and retrying a failed sign-in then registers again", async () => {
    const { connect, signIn, begin } = scene();
    await signIn();
    guarded.forgetClients();
    const { needsSignIn } = connect();
    await needsSignIn();
    expect(guarded.registrations()).toBe(0);
    await signIn();
    expect(guarded.registrations()).toBe(1);
    guarded.forgetClients();
    await begin();
    await signIn();
    expect(guarded.registrations()).toBe(1);
  });

  it('may temporarily fail to renew a token, which is then kept and renewed later', async () => {
    const { connect, signIn, vault } = scene();
    await signIn();
    const { connected, call, state } = connect();
    await connected();
    guarded.refuseTokens('temporarily_unavailable');
    guarded.expire();
    await expect(call()).rejects.toThrow(/could not be renewed/);
    expect(vault.kept()?.tokens).toBeDefined();
    expect(JSON.stringify(state())).not.toContain('access-');
    guarded.refuseTokens(null);
    await expect.poll(call, { timeout: 10_000 }).toEqual(SEEN);
  });

  it('may send a lifetime of 0 for a token that does not expire, which is then used until it is refused', async () => {
    const { connect, signIn } = scene();
    guarded.lifetime(0);
    await signIn();
    const { connected, call } = connect();
    await connected();
    expect(await call()).toEqual(SEEN);
    expect(guarded.grants).toEqual(['code']);
  });

  it('may name a different issuer, which does not receive the token', async () => {
    const { connect, signIn, vault } = scene();
    await signIn();
    await vault.update(async (now) => {
      if (now?.discovery?.authorizationServerMetadata === undefined) throw new Error('none');
      const { issuer, ...others } = now.discovery.authorizationServerMetadata;
      const metadata = { ...others, issuer: `${issuer}/another` };
      const discovery = { ...now.discovery, authorizationServerMetadata: metadata };
      return { next: { ...now, discovery }, result: null };
    });
    guarded.expire();
    const { needsSignIn } = connect();
    await needsSignIn();
    expect(guarded.grants).toEqual(['code']);
    expect(guarded.refreshesAsked()).toBe(0);
  });

  it('may have a registration in the settings, which is also used for renewal and is not stored', async () => {
    guarded.addClient('parley', REDIRECT);
    const { connect, signIn, vault } = scene(memoryVault(), { clientId: 'parley' });
    await signIn();
    const { connected, call } = connect();
    await connected();
    guarded.expire();
    expect(await call()).toEqual(SEEN);
    expect(guarded.grants).toEqual(['code', 'refresh']);
    expect(guarded.registrations()).toBe(1);
    expect(vault.kept()?.client).toBeUndefined();
  });

  it('may name an authorization server other than the one in the settings, but no browser is sent there', async () => {
    const { begin, vault } = scene(memoryVault(), {
      issuer: 'https://sso.example.org/',
      clientId: 'parley',
      clientSecret: 'for that one alone',
    });
    await expect(begin()).rejects.toThrow(/instead of the authorization server in its settings/);
    expect(vault.kept()).toBeNull();
  });

  it('receives a new registration when the browser returns to another URL', async () => {
    const { begin } = scene();
    await begin();
    await begin('mine', 'http://localhost:8420/');
    expect(guarded.registrations()).toBe(2);
  });

  it('does not have its tokens logged', async () => {
    const { connect, signIn, vault } = scene();
    await signIn();
    const { connected, call, lines } = connect();
    await connected();
    guarded.revoke();
    await call().catch(() => undefined);
    const { access = '', refresh = '' } = vault.kept()?.tokens ?? {};
    expect(lines.join('\n')).not.toMatch(/access-|refresh-|code-/);
    expect([access, refresh]).toEqual(['', '']);
  });
});

describe('[G03] the redirect back from a sign-in', () => {
  it.each<
    readonly [string, (answer: SignInCallbackParams) => SignInCallbackParams, string, RegExp]
  >([
    ['with a wrong state', (answer) => ({ ...answer, state: 'x' }), 'mine', /is unknown/],
    ['in another session', (answer) => answer, 'theirs', /another browser/],
    [
      'from another issuer',
      (answer) => ({ ...answer, iss: 'https://evil.test' }),
      'mine',
      /issuer/i,
    ],
    [
      'without the issuer that the server promises',
      ({ iss: _iss, ...answer }) => answer,
      'mine',
      /iss/i,
    ],
    ['with a made-up code', (answer) => ({ ...answer, code: 'x' }), 'mine', /did not let you in/],
    [
      'without a code',
      ({ state }) => ({ state, error: 'access_denied', errorDescription: 'No.' }),
      'mine',
      /access_denied: No\./,
    ],
  ])('is rejected %s', async (_what, change, session, words) => {
    const { begin, finish, agree, vault } = scene();
    const answer = change(await agree(await begin()));
    await expect(finish(answer, session)).rejects.toThrow(words);
    expect(vault.kept()?.tokens).toBeUndefined();
  });

  it('is accepted once, and within a quarter of an hour', async () => {
    const { begin, finish, agree, later } = scene();
    const answer = await agree(await begin());
    await finish(answer);
    await expect(finish(answer)).rejects.toThrow(/is unknown/);
    const late = await agree(await begin());
    later(16 * 60_000);
    await expect(finish(late)).rejects.toThrow(/too long/);
  });
});

describe('[G03] URLs that a server names', () => {
  it.each([
    'http://169.254.169.254/',
    'http://10.0.0.1/',
    'https://10.0.0.1/',
    'https://[::ffff:7f00:1]/',
    'https://metadata.internal/',
    'http://example.org/',
  ])('are not requested when they are internal or insecure: %s', async (address) => {
    guarded.nameInstead(address);
    const { begin, vault } = scene();
    await expect(begin()).rejects.toThrow();
    expect(vault.kept()).toBeNull();
  });
});

describe('[G03] the stored state of a sign-in', () => {
  it('counts as secret where it grants access', () => {
    const information = {
      client_id: 'c',
      client_secret: 'one',
      registration_access_token: 'two',
    };
    const client = { information, redirectUrl: REDIRECT };
    const pending = {
      ...{ state: 's', verifier: 'three', redirectUrl: REDIRECT, session: 'x', expiresAt: 0 },
    };
    const tokens = { access: 'four', refresh: 'five' };
    const secrets = listSecrets({ url: guarded.url, tokens, client, pending });
    expect([...secrets].sort()).toEqual(['five', 'four', 'one', 'three', 'two']);
  });
});
