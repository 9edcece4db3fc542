import { createAnswerPrinter } from '@parley/channels';
import { type Clock, type Role, silentLogger } from '@parley/core';
import { createLocalBus } from '@parley/queue';
import type { Store } from '@parley/store';
import type { AccountRegistry } from '../../channel-operations.ts';
import { listOperations, type OperationServices } from '../../operations.ts';
import type { AuditReport, AuditSeverity, GatewayStatus } from '../api.ts';
import { createHttpApp } from '../app.ts';

/** The dependencies of a test's app. */
interface FullAppDeps {
  readonly token: string;
  readonly store: Store;
  readonly clock: Clock;
}

const nothing = async () => ({});

const finding = (id: string, severity: AuditSeverity, found: string) => ({
  ...{ id, severity, found, remedy: 'Look at it.' },
});

const AGENT = {
  ...{ name: 'main', title: 'Ada', emoji: null, isDefault: true, model: 'offline', profile: null },
  routes: ['person telegram:canary', 'chat discord:canary', 'everything else'],
};

const AGENT_OF_OWNER = { ...AGENT, workspace: '/canary', owners: ['telegram:canary'] };

const ACCOUNTS: AccountRegistry = {
  ...{ status: () => [], planOf: () => undefined },
  ...{ pause: async () => undefined, resume: async () => undefined },
};

const AUDIT: AuditReport = {
  at: 0,
  counts: { critical: 1, warning: 0, info: 2 },
  findings: [
    finding('files.token-mode', 'critical', 'Others can read /data/token.'),
    finding('workspace.prompt-changed', 'info', 'SOUL.md: write in telegram:default:canary-1.'),
    finding('workspace.prompt-changed', 'info', 'SOUL.md: write in telegram:default:canary-2.'),
  ],
};

/** Creates an app with every service, so that every route exists. Most services return nothing. */
export function createFullApp({ token, store, clock }: FullAppDeps) {
  const bus = createLocalBus(silentLogger);
  const _turns = { wake: async () => undefined };
  const situation = () => ({ agentName: 'Parley', model: 'm', models: [] });
  const unused = (): never => {
    throw new Error('not used here');
  };
  return createHttpApp({
    ...{ host: '127.0.0.1', token: () => token, log: silentLogger, bus, situation },
    ...{ clock, store, monotonic: clock },
    page: { fetch: () => new Response('the page') },
    sessions: {
      repository: store.pageSessions,
      signIns: store.signIns,
      limits: { idleMs: 60_000, longestMs: 600_000 },
    },
    metrics: async () => '',
    status: () => [],
    report: createTestStatus({
      settings: { afterRestart: [], problems: ['canary is no number'] },
      channels: [{ channel: 'whatsapp', state: { kind: 'pairing', code: 'canary', how: 'scan' } }],
    }),
    hooks: { rules: {}, take: unused, count: nothing },
    operations: {
      ...{ store, bus, situation, newId: () => 'id', defaultAgent: 'main' },
      ...{ clock, log: silentLogger, wake: async () => undefined, scrub: (text) => text },
      answerPrinter: async () => createAnswerPrinter(),
      channels: async () => ({ accounts: ACCOUNTS, monotonic: clock }),
      audit: async () => AUDIT,
      logs: unused,
      bugReport: async () => ({ name: '', files: [], archive: '' }),
      ...{ approvals: unused, files: unused, promptFiles: unused, preview: unused },
      ...{ skills: unused, mcpSignIns: unused, settingsFile: unused, setup: unused },
      ...{ replays: unused, replayChoices: unused, keepCase: unused },
      ...{ cron: unused, heartbeat: unused, hooks: unused, memory: unused, soul: unused },
      agents: async () => [AGENT_OF_OWNER],
      usage: async () => ({ timeZone: 'UTC', dayAt: () => '2026-11-21', caps: [] }),
    },
    ping: async () => undefined,
    channel: (channel) =>
      channel === 'api' ? undefined : { fetch: async () => new Response('private') },
  });
}

/**
 * Lists the lowest role for every operation by method and path. All operations accept POST, and
 * reads also accept GET.
 */
export async function listOperationRoutes(): Promise<ReadonlyMap<string, Role>> {
  const roles = (await listOperations()).flatMap(({ name, does, role = 'owner' }) => {
    const methods = does === 'read' ? ['GET', 'POST'] : ['POST'];
    return methods.map((method) => [`${method} /api/${name}`, role] as const);
  });
  return new Map(roles);
}

/** Creates a status report with the given values only. */
export function createTestStatus(facts: object): () => Promise<GatewayStatus> {
  return async () => facts as GatewayStatus;
}

/** Operation services for an app whose tests do not call operations that need services. */
export const NO_OPERATIONS = { scrub: (text: string) => text } as unknown as OperationServices;

/**
 * Lists every route by method and path (`GET /api/status/report`), except operations and the API,
 * which has its own tokens.
 */
export function listRoutes({ routes }: ReturnType<typeof createFullApp>): readonly string[] {
  const own = routes.filter(
    ({ path, method }) =>
      !path.startsWith('/api/:group{') &&
      !(method === 'ALL' && /^(\/v1|\/api(\/[\w-]+)?)?\/\*$/.test(path)),
  );
  const named = own.flatMap(({ path, method }) =>
    (method === 'ALL' ? ['GET', 'POST', 'DELETE'] : [method]).map((one) => `${one} ${path}`),
  );
  return [...new Set(named)].toSorted();
}
