import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditSeverity } from '@parley/gateway/api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from '../../data-folder.ts';
import { readSettings } from '../../settings.ts';
import { formatAudit, getExitCode } from './audit.ts';
import { AUDIT_CHECKS } from './audit-checks.ts';
import { runAudit, toAuditReport } from './audit-report.ts';
import type { AuditFactName, ExaminedAgent, FactsFor } from './facts.ts';
import type { FileFact } from './file-facts.ts';

type AuditFacts = FactsFor<AuditFactName | 'settings'>;

const NOW = Date.parse('2026-11-22T10:00:00Z');
const DAY = 24 * 60 * 60_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Returns the facts about an installation that has these settings and is otherwise secure. */
function factsOf(settings: object, more: Partial<AuditFacts> = {}): AuditFacts {
  writeFileSync(join(folder, 'parley.yaml'), JSON.stringify(settings));
  const place = locateDataFolder(folder, {});
  const loaded = readSettings(place, {});
  return {
    ...{ folder: { ...place, path: '/data' }, env: {}, clock: () => NOW, monotonic: () => 0 },
    ...{ now: NOW, loaded, agent: undefined },
    uid: 1000,
    files: [fileOf('data', 0o700), fileOf('token', 0o600)],
    settings: loaded.settings,
    channels: loaded.channels,
    knownChannels: ['web', 'terminal', 'telegram'],
    secrets: [],
    clearSecrets: [],
    token: 'dsCY6r5erDqQlg9lnWce3nRMcvOgJPg3',
    webhooks: [],
    postgresPassword: false,
    plugins: [],
    sandboxProblem: async () => null,
    mcpChanges: [],
    allowedPeople: [],
    linked: [],
    signIns: [],
    promptWrites: [],
    workspace: {
      isThere: true,
      openFiles: [],
      memory: [],
      symlinks: [],
      hardlinks: [],
      encodings: [],
      isCut: false,
    },
    ...more,
  };
}

function fileOf(kind: FileFact['kind'], mode: number, more: Partial<FileFact> = {}): FileFact {
  return { path: `/data/${kind}`, kind, mode, uid: 1000, isOwnGroup: false, ...more };
}

const HOOK_TOKEN = '4f9c1b7a83e05d26'.repeat(3);
const hooks = (token: string): object => ({ hooks: { ci: { token, instruction: 'Look.' } } });

const googleChat = (more: object): object => {
  const options = { useApplicationDefaultCredentials: true, endpointUrl: 'https://a.b', ...more };
  return { channels: { chat: { use: '@chat-adapter/gchat', options } } };
};

type Case = readonly [settings: object, more?: (facts: AuditFacts) => Partial<AuditFacts>];
interface Row {
  readonly bad: Case;
  readonly good: Case;
  /** The severity, if it differs from the check's severity. */
  readonly severity?: AuditSeverity;
}

const telegram = (account: object) => ({
  channels: { telegram: { token: `123456:${'A'.repeat(35)}`, ...account } },
});
const open = telegram({ access: { direct: 'open', groups: 'open' } });
const mcp = (server: object) => ({ mcp: { desk: { command: 'desk-server', ...server } } });
const remote = (server: object) => ({ mcp: { desk: server } });
const auto = (...rules: string[]) => ({ approvals: { auto: rules } });
const files =
  (kind: FileFact['kind'], mode: number, more: Partial<FileFact> = {}) =>
  (facts: AuditFacts) => ({ files: [...facts.files, fileOf(kind, mode, more)] });
const said =
  (text: string, more: Partial<AuditFacts['workspace']> = {}) =>
  ({ workspace }: AuditFacts) => ({
    workspace: { ...workspace, openFiles: [{ name: 'notes.md', text }], ...more },
  });
const workspace =
  (more: Partial<AuditFacts['workspace']>) =>
  ({ workspace: before }: AuditFacts) => ({ workspace: { ...before, ...more } });
const mode = (kind: FileFact['kind'], readable: number, fine: number): Row => ({
  bad: [{}, files(kind, readable)],
  good: [{}, files(kind, fine)],
});
const person = { personId: 'telegram:9', since: NOW - 200 * DAY, lastDay: '2026-06-01' };
const signIn: AuditFacts['signIns'][number] = {
  ...{ id: 'a', hash: 'a', name: 'bob', role: 'operator' as const },
  ...{ createdAt: NOW - 8 * DAY, usedAt: NOW },
};
const write = {
  path: 'AGENTS.md',
  tool: 'write',
  conversationId: 'web:default:owner',
  at: NOW,
  approvedBy: 'telegram:1',
  writer: undefined,
};

/** A bad and a good case for each audit check. */
const ROWS: Readonly<Record<string, Row>> = {
  'files.data-mode': { bad: [{}, () => ({ files: [fileOf('data', 0o755)] })], good: [{}] },
  'files.settings-mode': mode('settings', 0o640, 0o600),
  'files.token-mode': mode('token', 0o644, 0o600),
  'files.database-mode': mode('database', 0o604, 0o600),
  'files.backup-mode': mode('backup', 0o644, 0o600),
  'files.workspace-mode': mode('workspace', 0o755, 0o700),
  'files.other-mode': mode('other', 0o644, 0o600),
  'files.skills-mode': mode('skills', 0o775, 0o755),
  'files.plugins-mode': {
    bad: [{}, files('plugin', 0o666, { isOwnGroup: true })],
    good: [{}, files('plugin', 0o664, { isOwnGroup: true })],
  },
  'files.owner': {
    bad: [{}, files('plugin', 0o644, { uid: 33 })],
    good: [{}, files('plugin', 0o644, { uid: 0 })],
  },
  'files.secrets-in-clear': {
    bad: [{}, () => ({ clearSecrets: ['model.apiKey (line 3)'] })],
    good: [{}],
  },
  'files.plugins-outside': {
    bad: [{}, () => ({ plugins: [{ use: '../dice', folder: '/srv/dice' }] })],
    good: [{}, () => ({ plugins: [{ use: './dice', folder: '/data/plugins/dice' }] })],
  },
  'workspace.open-keys': {
    bad: [{}, said('My key is AKIAABCDEFGHIJKLMNOP.')],
    good: [{}, said('My key is under the mat. task-management-of-the-team')],
  },
  'workspace.open-phones': {
    bad: [{}, said('Ann: +49 (170) 123-4567')],
    good: [{}, said('On 2026-11-22 +5 degrees, 1+12345678901 apples, order 1234567890')],
  },
  'workspace.open-memory': {
    bad: [
      {},
      said('> Ann is afraid of   flying to Rome\n', {
        memory: ['# Memory\n- Ann is afraid of flying to Rome <!-- m1 -->'],
      }),
    ],
    good: [{}, said('# Memory\nOk.', { memory: ['# Memory\nOk.\n- Ann is afraid of flying'] })],
  },
  'workspace.prompt-changed': {
    bad: [{}, () => ({ promptWrites: [write] })],
    good: [{}, () => ({ promptWrites: [{ ...write, writer: 'support' }] })],
  },
  'workspace.symlinks': { bad: [{}, workspace({ symlinks: ['a.md'] })], good: [{}] },
  'workspace.hardlinks': { bad: [{}, workspace({ hardlinks: ['a.md'] })], good: [{}] },
  'workspace.encodings': {
    bad: [{}, workspace({ encodings: ['a.md: its encoding is not known'] })],
    good: [{}],
  },
  'workspace.not-looked-at': { bad: [{}, workspace({ isCut: true })], good: [{}] },
  'access.direct-open': { bad: [open], good: [telegram({ access: { direct: 'allowlist' } })] },
  'access.groups-open': { bad: [open], good: [telegram({ access: { direct: 'open' } })] },
  'access.no-cap': {
    bad: [{ ...open, spend: { perStrangerDaily: 'off' } }],
    good: [open],
  },
  'access.always-in-open-groups': {
    bad: [telegram({ activation: 'always', access: { groups: 'open' } })],
    good: [telegram({ activation: 'always' })],
  },
  'access.live-mentions': {
    bad: [telegram({ answers: { mentions: 'live' } })],
    good: [telegram({})],
  },
  'access.unknown-owner': {
    bad: [{ owners: ['discord:1'] }],
    good: [{ owners: ['telegram:1'], approvals: { approvers: ['telegram:2'] } }],
  },
  'access.approvers': {
    bad: [{ approvals: { approvers: ['telegram:2'] } }],
    good: [{ owners: ['telegram:2'], approvals: { approvers: ['telegram:2'] } }],
  },
  'access.old-pairings': {
    bad: [{}, () => ({ allowedPeople: [person] })],
    good: [{}, () => ({ allowedPeople: [{ ...person, lastDay: '2026-11-01' }] })],
  },
  'access.old-links': {
    bad: [{}, () => ({ linked: [{ ...person, lastDay: null }] })],
    good: [{}, () => ({ linked: [{ ...person, since: NOW - DAY }] })],
  },
  'access.more-owners': {
    bad: [{}, () => ({ signIns: [{ ...signIn, role: 'owner' as const }] })],
    good: [{}, () => ({ signIns: [signIn] })],
  },
  'access.unused-sign-in': {
    bad: [{}, () => ({ signIns: [{ ...signIn, usedAt: null }] })],
    good: [{}, () => ({ signIns: [{ ...signIn, usedAt: null, createdAt: NOW - 6 * DAY }] })],
  },
  'access.page-exposed': {
    bad: [{ http: { host: '0.0.0.0' } }],
    good: [{ http: { host: '::1' } }],
  },
  'access.weak-token': {
    bad: [{}, () => ({ token: 'abab'.repeat(10) })],
    good: [{}, () => ({ token: null })],
  },
  'access.api-token': {
    bad: [{ api: { clients: { desk: { token: 'abab'.repeat(10) } } } }],
    good: [{ api: { clients: { desk: { token: 'dsCY6r5erDqQlg9lnWce3nRMcvOgJPg3' } } } }],
  },
  'access.api-owner': {
    bad: [{ api: { clients: { desk: { token: 'abab'.repeat(10), owner: true } } } }],
    good: [{ api: { clients: { desk: { token: 'abab'.repeat(10) } } } }],
  },
  'access.webhook-secret': {
    bad: [{}, () => ({ webhooks: [{ name: 'telegram/default', secretLength: 16 }] })],
    good: [{}, () => ({ webhooks: [{ name: 'telegram/default', secretLength: 48 }] })],
  },
  'access.unverified-webhook': {
    bad: [googleChat({ disableSignatureVerification: true })],
    good: [googleChat({ disableSignatureVerification: false })],
  },
  'access.weak-hook-token': {
    bad: [hooks('ab'.repeat(20))],
    good: [hooks(HOOK_TOKEN)],
  },
  'access.database-password': {
    bad: [{ store: { url: 'postgres://parley@db.lan/parley' } }],
    good: [{ store: { url: 'postgres://parley:secret@db.lan/parley' } }],
  },
  'access.redis-password': {
    bad: [{ queue: { url: 'rediss://redis.lan:6379' } }],
    good: [{ queue: { url: 'rediss://redis.lan:6379', password: 'secret' } }],
  },
  'access.servers-without-tls': {
    bad: [{ queue: { url: 'redis://:secret@redis.lan:6379' } }],
    good: [
      {
        queue: { url: 'redis://127.0.0.1:6379' },
        store: { url: 'postgres://a:b@db.lan/parley?sslmode=verify-full' },
      },
    ],
  },
  'exec.enabled': { bad: [{ exec: { enabled: true } }], good: [{}] },
  'exec.unasked': {
    bad: [{ exec: { enabled: true, approval: 'never' } }],
    good: [{ exec: { enabled: false, approval: 'never' } }],
  },
  'exec.network': {
    bad: [{ exec: { enabled: true, network: true } }],
    good: [{ exec: { enabled: true } }],
  },
  'exec.sandbox': {
    bad: [
      { exec: { enabled: true } },
      () => ({ sandboxProblem: async () => 'bubblewrap is not installed.' }),
    ],
    good: [{ exec: { enabled: true } }],
  },
  'approvals.any-command': { bad: [auto('exec')], good: [auto('exec:git status')] },
  'approvals.broad-command': { bad: [auto('exec:git *')], good: [auto('exec:git status*')] },
  'approvals.host-prefix': {
    bad: [auto('web_fetch:https://example.com*')],
    good: [auto('web_fetch:https://example.com/*', 'web_fetch:https://example.com')],
  },
  'approvals.unasked-tool': { bad: [auto('write')], good: [auto('write:notes/*', 'read')] },
  'web.unasked': { bad: [{ web: { fetch: { approval: 'never' } } }], good: [{}] },
  'mcp.everyone': { bad: [mcp({ audience: 'everyone' })], good: [mcp({})] },
  'mcp.unasked': { bad: [mcp({ approval: 'never' })], good: [mcp({ approval: 'ask' })] },
  'mcp.without-tls': {
    bad: [remote({ url: 'http://tools.lan/mcp' })],
    good: [remote({ url: 'http://127.0.0.1:3000/mcp' })],
  },
  'mcp.key-in-address': {
    bad: [remote({ url: 'https://tools.lan/mcp?api_key=K9sWq2' })],
    good: [remote({ url: 'https://tools.lan/mcp?page=2' })],
  },
  'mcp.unpinned': {
    bad: [mcp({ command: 'npx', args: ['-y', '@scope/server@latest'] })],
    good: [mcp({ command: 'npx', args: ['-y', '@scope/server@1.2.3'] })],
  },
  'mcp.changed': {
    bad: [mcp({}), () => ({ mcpChanges: [{ server: 'desk', changes: 'changed: read' }] })],
    good: [mcp({})],
  },
};

/** Returns an agent for the audit, with the given facts. */
function examined(facts: AuditFacts): ExaminedAgent {
  const all = async () => facts;
  const sources = { settings: all, files: all, workspace: all, sandbox: all, database: all };
  return { name: facts.agent, base: facts, sources };
}

const resultsOf = (...agents: readonly AuditFacts[]) =>
  runAudit(agents.map(examined), { monotonic: () => 0 });
const reportOf = async (...agents: readonly AuditFacts[]) =>
  toAuditReport(await resultsOf(...agents), NOW);
const auditOf = async (...agents: readonly AuditFacts[]) => (await reportOf(...agents)).findings;

const foundIn = ([settings, more = () => ({})]: Case) => {
  const facts = factsOf(settings);
  return auditOf({ ...facts, ...more(facts) });
};

describe('each check', () => {
  it('[U05] has test cases in this file and a unique id', () => {
    const ids = AUDIT_CHECKS.map(({ id }) => id);
    expect(Object.keys(ROWS).toSorted()).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(Object.entries(ROWS))(
    '[U05] %s reports the bad case, but not the good one',
    async (id, row) => {
      const expected = row.severity ?? AUDIT_CHECKS.find((check) => check.id === id)?.severity;
      const bad = (await foundIn(row.bad)).filter((finding) => finding.id === id);
      expect(bad.map(({ severity }) => severity)).toEqual([expected]);
      const good = (await foundIn(row.good)).filter((finding) => finding.id === id);
      expect(good).toEqual([]);
    },
  );

  it.each<[string, Case, AuditSeverity]>([
    ['files.data-mode', [{}, () => ({ files: [fileOf('data', 0o777)] })], 'critical'],
    ['files.plugins-outside', [{}, () => ({ plugins: [{ use: 'dice', folder: null }] })], 'info'],
    [
      'access.webhook-secret',
      [{}, () => ({ webhooks: [{ name: 'x/default', secretLength: 0 }] })],
      'critical',
    ],
    ['access.weak-hook-token', [hooks(HOOK_TOKEN), () => ({ token: HOOK_TOKEN })], 'critical'],
    ['access.redis-password', [{ queue: { url: 'redis://127.0.0.1:6379' } }], 'info'],
    ['approvals.any-command', [auto('exec:*')], 'critical'],
    ['approvals.broad-command', [auto('exec:npm run *')], 'warning'],
    ['approvals.broad-command', [auto('exec:git*')], 'warning'],
    ['approvals.host-prefix', [auto('web_fetch:https://*.example.com/*')], 'warning'],
    ['approvals.unasked-tool', [auto('desk__send:*')], 'warning'],
    ['mcp.key-in-address', [mcp({ args: ['--api-key', 'K9sWq2'] })], 'warning'],
    ['mcp.unpinned', [mcp({ command: 'uvx', args: ['server-git'] })], 'warning'],
  ])('[U05] %s also finds %j', async (id, bad, severity) => {
    const found = (await foundIn(bad)).filter((finding) => finding.id === id);
    expect(found.map((finding) => finding.severity)).toEqual([severity]);
  });
});

describe('an audit', () => {
  it('[U05] finds a secret from the settings by its value, and never prints the value', async () => {
    const facts = factsOf({});
    const secrets = ['hunter2-hunter2'];
    const { workspace: known } = said('the password: hunter2-hunter2')(facts);
    const report = await reportOf({ ...facts, secrets, workspace: known });
    expect(report.findings).toMatchObject([
      { id: 'workspace.open-keys', found: 'notes.md, line 1: looks like a key or token.' },
    ]);
    expect(JSON.stringify(report) + formatAudit(report)).not.toContain('hunter2');
  });

  it('[U05] does not mistake the value of a key for a package name', async () => {
    const args = ['--api-key', 'hunter2', '-y', 'desk-server'];
    const findings = await auditOf(factsOf(mcp({ command: 'npx', args })));
    expect(findings.map(({ id }) => id)).toEqual(['mcp.key-in-address', 'mcp.unpinned']);
    expect(JSON.stringify(findings)).not.toContain('hunter2');
  });

  it('[U05] lists the most severe findings first, and reflects the severity in the exit code', async () => {
    const bad = { ...open, exec: { enabled: true, approval: 'never' } };
    const severities = (await auditOf(factsOf(bad))).map(({ severity }) => severity);
    expect(severities).toEqual(['critical', 'warning', 'warning', 'info']);
    const codeOf = async (settings: object) => getExitCode(await reportOf(factsOf(settings)));
    expect(await codeOf(bad)).toBe(2);
    expect(await codeOf(open)).toBe(1);
    expect(await codeOf({ exec: { enabled: true } })).toBe(0);
    expect(await codeOf({})).toBe(0);
  });

  it('[F14] [U05] examines each agent by name, and reports findings about all agents only once', async () => {
    const key = { name: 'a.md', text: `sk-${'a1'.repeat(12)}` };
    const base = factsOf({ owners: ['discord:1'] });
    const main = { ...base, workspace: { ...base.workspace, openFiles: [key] } };
    const settings = { ...base.settings, owners: ['discord:1', 'discord:2'] };
    const found = await auditOf(main, { ...main, agent: 'support', settings });
    expect(found.map((one) => [one.id, one.found.split(/[:,]/).slice(0, 2).join()])).toEqual([
      ['workspace.open-keys', 'a.md, line 1'],
      ['workspace.open-keys', 'Agent support, a.md'],
      ['access.unknown-owner', 'The owner discord,1 is not on a configured channel.'],
      ['access.unknown-owner', 'Agent support, The owner discord'],
    ]);
  });

  it('[U05] prints the advice of each check once', async () => {
    const text = formatAudit(await reportOf(factsOf({ owners: ['discord:1', 'discord:2'] })));
    expect(text.match(/access\.unknown-owner/g)).toHaveLength(1);
    expect(text.match(/Correct the channel/g)).toHaveLength(1);
    expect(text.match(/The owner discord:/g)).toHaveLength(2);
    expect(text).toContain('0 critical, 2 warnings, 0 notes.');
  });

  it('[U05] repairs only files that belong to their owner, by removing forbidden permissions', async () => {
    const files = [
      fileOf('data', 0o755),
      fileOf('skills', 0o777),
      fileOf('token', 0o600),
      fileOf('plugin', 0o666, { uid: 33 }),
    ];
    const results = await resultsOf(factsOf({}, { files }));
    expect(results.flatMap(({ repair }) => repair ?? [])).toEqual([
      { path: '/data/data', from: 0o755, to: 0o700 },
      { path: '/data/skills', from: 0o777, to: 0o755 },
    ]);
  });
});
