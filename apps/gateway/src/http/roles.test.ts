import { isRoleAtLeast, ROLES, type Role } from '@parley/core';
import { openMemoryStore } from '@parley/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprintSecret, SIGN_IN_PREFIX, toSessionId } from './page-sessions.ts';
import { listReadableRoutes } from './roles.ts';
import { createFullApp, listOperationRoutes, listRoutes } from './testing/full-app.ts';

const HOST = '127.0.0.1:7411';
const TOKEN = 'secret-token-of-this-gateway-1234';
const clock = () => 1_000_000;
const store = await openMemoryStore({ clock });
afterAll(() => store.close());

/** Routes that do not require authentication. */
const OPEN = new Set(['GET /healthz', 'GET /readyz', 'GET /', 'GET /page/*', 'POST /api/sessions']);
/** The routes that roles other than owner may use. New routes must be added here explicitly. */
const MAY: Readonly<Record<Exclude<Role, 'owner'>, readonly string[]>> = {
  viewer: [
    'GET /api/agents/list',
    'GET /api/sessions/me',
    'GET /api/status/report',
    'GET /api/usage/hours',
    'GET /api/usage/report',
    'GET /metrics',
    'POST /api/agents/list',
    'POST /api/sessions/leave',
    'POST /api/sessions/me',
    'POST /api/status/report',
    'POST /api/usage/hours',
    'POST /api/usage/report',
  ],
  operator: [
    'GET /api/agents/list',
    'GET /api/audit/report',
    'GET /api/channels/report',
    'GET /api/queue/report',
    'GET /api/sessions/me',
    'GET /api/status/report',
    'GET /api/usage/hours',
    'GET /api/usage/report',
    'GET /metrics',
    'POST /api/access/pair',
    'POST /api/access/refuse',
    'POST /api/agents/list',
    'POST /api/audit/report',
    'POST /api/channels/allow',
    'POST /api/channels/pause',
    'POST /api/channels/reconnect',
    'POST /api/channels/report',
    'POST /api/channels/resume',
    'POST /api/channels/test',
    'POST /api/queue/report',
    'POST /api/sessions/leave',
    'POST /api/sessions/me',
    'POST /api/status/report',
    'POST /api/usage/hours',
    'POST /api/usage/report',
  ],
};

const app = createFullApp({ token: TOKEN, store, clock });
const OPERATIONS = await listOperationRoutes();
const ROUTES = [...listRoutes(app), ...OPERATIONS.keys()].toSorted();
const ask = (method: string, path: string, token?: string) =>
  app.request(`http://${HOST}${path}`, {
    method,
    headers: { host: HOST, ...(token && { authorization: `Bearer ${token}` }) },
  });

/** Replaces path parameters with a value. */
const filled = (path: string) =>
  path
    .replaceAll(/:number\{[^}]+\}/g, '1')
    .replaceAll(/:\w+/g, 'x')
    .replaceAll('*', 'x');

const tokens = new Map<Role, string>();
beforeAll(async () => {
  for (const role of ROLES) {
    const token = `${SIGN_IN_PREFIX}${role.padEnd(43, '_')}`;
    const hash = fingerprintSecret(token);
    await store.signIns.add({
      ...{ id: toSessionId(hash), hash, name: `an ${role}`, role, createdAt: 0, usedAt: null },
    });
    tokens.set(role, token);
  }
});

/** A hook accepts only its own token, not the page's tokens. */
const HOOK = 'POST /hooks/:name';

/** Why a route is not an operation. */
const NO_OPERATION: Readonly<Record<string, string>> = {
  'GET /': 'the page',
  'GET /page/*': 'the page',
  'GET /healthz': 'health, without a caller',
  'GET /readyz': 'health, without a caller',
  'GET /metrics': 'text for Prometheus',
  'POST /api/sessions': 'signing in, without a caller',
  'POST /hooks/:name': 'events, by a token of their own',
  'GET /api/conversations/:id/files/:message/:index': 'a download',
  'GET /api/conversations/:id/sent/:part': 'a download',
  'GET /channels/:channel/:account/*': 'streams, uploads and downloads of a channel',
  'POST /channels/:channel/:account/*': 'streams, uploads and downloads of a channel',
  'DELETE /channels/:channel/:account/*': 'streams, uploads and downloads of a channel',
};

describe('every route of the gateway', () => {
  it('[U03] is an operation, or has a reason not to be one', () => {
    expect(listRoutes(app)).toEqual(Object.keys(NO_OPERATION).toSorted());
  });

  it('[U03] requires a sign-in, except for health, the page’s files and signing in', async () => {
    expect(ROUTES.length).toBeGreaterThan(100);
    const open: string[] = [];
    for (const route of ROUTES) {
      const [method = '', path = ''] = route.split(' ');
      if ((await ask(method, filled(path))).status !== 401) open.push(route);
    }
    // A sign-in request without a token is answered as incomplete, not as refused.
    expect(new Set(open)).toEqual(OPEN);
  });

  it.each(['viewer', 'operator'] as const)(
    '[U03] is for owners only unless the table grants it to a %s, and the response says so',
    async (role) => {
      const passed: string[] = [];
      for (const route of ROUTES.filter((one) => !OPEN.has(one) && one !== HOOK)) {
        const [method = '', path = ''] = route.split(' ');
        const response = await ask(method, filled(path), tokens.get(role));
        if (response.status !== 403) passed.push(route);
        else {
          const declared = OPERATIONS.get(route);
          const needed = declared ?? 'owner';
          const error = `This needs the role ${needed}; an ${role} is ${role}.`;
          const code = declared !== undefined && { code: 'role-needed' };
          expect(await response.json()).toEqual({ error, role: needed, ...code });
        }
      }
      expect(passed).toEqual(MAY[role]);
    },
  );

  it('[U03] is open to every owner, with the gateway token or a named sign-in', async () => {
    for (const route of ROUTES) {
      const [method = '', path = ''] = route.split(' ');
      if (OPEN.has(route) || path.startsWith('/api/people')) continue;
      for (const token of [TOKEN, tokens.get('owner')]) {
        expect([route, (await ask(method, filled(path), token)).status]).not.toContain(403);
      }
    }
  });

  it('[U03] [H09] accepts events without a page token', async () => {
    for (const token of [TOKEN, ...tokens.values()]) {
      expect([401, 429]).toContain((await ask('POST', '/hooks/ci', token)).status);
    }
  });

  it('[U03] answers HEAD like GET, and rejects other methods with a list of the allowed ones', async () => {
    const viewer = tokens.get('viewer');
    expect((await ask('HEAD', '/api/status/report', viewer)).status).toBe(200);
    expect((await ask('HEAD', '/api/queue/report', viewer)).status).toBe(403);
    expect((await ask('PUT', '/api/status/report', viewer)).status).toBe(405);
  });

  it('[U03] shows the code that links a phone only to owners', async () => {
    const shown = async (role: Role) =>
      (await ask('GET', '/api/status/report', tokens.get(role))).text();
    expect(await shown('owner')).toContain('canary');
    for (const role of ['viewer', 'operator'] as const) {
      expect(await shown(role)).toContain('pairing');
      expect(await shown(role)).not.toContain('canary');
    }
  });

  it('[U03] [U05] shows audit findings about people, chats and files only to owners', async () => {
    const found = async (role: Role) => {
      const { findings } = JSON.parse(
        await (await ask('GET', '/api/audit/report', tokens.get(role))).text(),
      );
      return findings.map((one: { readonly found: string }) => one.found);
    };
    expect((await found('owner')).join()).toContain('canary-2');
    expect(await found('operator')).toEqual([
      'Others can read /data/token.',
      'Only owners can see the details.',
    ]);
  });

  it('[U03] shows usage by person or chat only to owners', async () => {
    const usage = (by: string, role: Role) =>
      ask('GET', `/api/usage/report?by=${by}`, tokens.get(role));
    for (const by of ['person', 'chat']) {
      expect((await usage(by, 'operator')).status).toBe(403);
      expect((await usage(by, 'owner')).status).toBe(200);
    }
    for (const by of ['day', 'model', 'channel', 'agent']) {
      const response = await usage(by, 'viewer');
      expect(await response.json()).toMatchObject({
        groupings: ['day', 'model', 'channel', 'agent'],
      });
    }
  });

  it('[U03] shows who is signed in, and which routes this person may read', async () => {
    const me = async (token?: string) => (await ask('GET', '/api/sessions/me', token)).json();
    expect(await me(TOKEN)).toMatchObject({ name: null, role: 'owner' });
    expect(await me(tokens.get('operator'))).toEqual({
      ...{ name: 'an operator', role: 'operator', routes: await listReadableRoutes() },
    });
  });
});

describe('roles', () => {
  it('[U03] grants each role all rights of lower roles', () => {
    const held = ROLES.map((role) => ROLES.filter((least) => isRoleAtLeast(role, least)));
    expect(held).toEqual([['viewer'], ['viewer', 'operator'], ['viewer', 'operator', 'owner']]);
  });
});
