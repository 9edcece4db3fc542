import { getHost, isLoopbackHost } from './access-checks.ts';
import { type Check, defineAuditCheck, defineCheck, ok, skipped } from './check.ts';
import type { FactsFor } from './facts.ts';

/**
 * Programs that run code or commands passed as arguments, so no argument prefix makes a call
 * harmless.
 */
const INTERPRETERS: ReadonlySet<string> = new Set([
  ...['sh', 'bash', 'zsh', 'env', 'sudo', 'xargs', 'find', 'ssh', 'make', 'docker'],
  ...['node', 'npm', 'npx', 'python', 'python3', 'uvx', 'perl', 'ruby', 'php', 'awk'],
]);
/** Tools that can change files or reach other people if they run without approval. */
const CHANGING: ReadonlySet<string> = new Set([
  ...['write', 'edit', 'message', 'send_file', 'cron', 'web_fetch'],
]);
const SECRET_NAME = /(token|key|secret|passw|auth|credential)/i;

export const TOOL_CHECKS: readonly Check[] = [
  defineAuditCheck('settings', {
    id: 'exec.enabled',
    severity: 'info',
    title: 'The agent does not run commands.',
    advice: 'Set exec.enabled to false if you do not need commands.',
    run: ({ settings: { exec } }) =>
      exec.enabled ? ['Commands are enabled for owners in direct chats.'] : [],
  }),
  defineAuditCheck('settings', {
    id: 'exec.unasked',
    severity: 'critical',
    title: "Each command needs a person's approval.",
    advice:
      'Set exec.approval to ask. Otherwise, a page or file that the agent reads can tell it what to run.',
    run: ({ settings: { exec } }) =>
      exec.enabled && exec.approval === 'never' ? ['Commands run without approval.'] : [],
  }),
  defineAuditCheck('settings', {
    id: 'exec.network',
    severity: 'warning',
    title: 'Commands cannot reach the network.',
    advice:
      'Set exec.network to false. Otherwise, a command can send everything it reads to any server.',
    run: ({ settings: { exec } }) =>
      exec.enabled && exec.network
        ? ['Commands can reach the network and all servers on this machine.']
        : [],
  }),
  defineCheck('sandbox', {
    id: 'exec.sandbox',
    doctorName: 'sandbox',
    severity: 'warning',
    title: 'The sandbox for commands works on this machine.',
    advice:
      'Install bubblewrap and allow user namespaces, or set exec.enabled to false. Until then, commands do not run, because they may not run outside the sandbox.',
    async run({ settings: { exec }, sandboxProblem }) {
      if (!exec.enabled) return [skipped('exec is off in the settings')];
      const problem = await sandboxProblem();
      return [
        problem === null
          ? ok('a test command ran in the sandbox')
          : { severity: 'failed', found: problem },
      ];
    },
  }),
  defineAuditCheck('settings', {
    id: 'approvals.any-command',
    severity: 'critical',
    title: 'No rule in approvals.auto allows every command.',
    advice: 'Use whole commands instead, such as "exec:git status".',
    run: (facts) =>
      listRules(facts, 'exec')
        .filter(({ pattern }) => pattern === null || pattern.trim().startsWith('*'))
        .map(({ rule }) => `The rule "${rule}" allows every command without approval.`),
  }),
  defineAuditCheck('settings', {
    id: 'approvals.broad-command',
    severity: 'warning',
    title: 'Rules for commands name more than just a program.',
    advice:
      'Name the subcommand and leave out the *, such as "exec:git status". Most programs have options that start other programs.',
    run: (facts) =>
      listRules(facts, 'exec')
        .filter(({ pattern }) => pattern !== null && isBroadCommand(pattern))
        .map(({ rule }) => `The rule "${rule}" covers more commands than it appears to.`),
  }),
  defineAuditCheck('settings', {
    id: 'approvals.host-prefix',
    severity: 'warning',
    title: 'Rules for web pages name the whole host.',
    advice: 'Put a / after the host: "web_fetch:https://example.com/*" does not match other hosts.',
    run: (facts) =>
      listRules(facts, 'web_fetch')
        .filter(({ pattern }) => pattern !== null && isHostPrefix(pattern))
        .map(({ rule }) => `The rule "${rule}" also matches other hosts.`),
  }),
  defineAuditCheck('settings', {
    id: 'approvals.unasked-tool',
    severity: 'warning',
    title: 'Rules for tools that change something restrict the arguments.',
    advice: 'Add the intended arguments, such as "write:notes/*".',
    run: ({ settings }) =>
      settings.approvals.auto
        .map(parseRule)
        .filter(({ tool, pattern }) => isChangingTool(tool) && (pattern ?? '*').startsWith('*'))
        .map(({ rule }) => `The rule "${rule}" allows every call of this tool without approval.`),
  }),
  defineAuditCheck('settings', {
    id: 'web.unasked',
    severity: 'warning',
    title: 'The agent asks before it opens URLs sent by outsiders.',
    advice: 'Remove web.fetch.approval. Without approval, a URL can leak what the agent knows.',
    run: ({ settings: { web } }) =>
      web.fetch.enabled && web.fetch.approval === 'never'
        ? ['Web pages are opened without approval.']
        : [],
  }),
  defineAuditCheck('settings', {
    id: 'mcp.everyone',
    severity: 'warning',
    title: 'Only owners can use MCP servers.',
    advice:
      'Remove "audience: everyone", unless strangers may use everything that the server offers.',
    run: (facts) =>
      listServers(facts)
        .filter(({ audience }) => audience === 'everyone')
        .map(({ name }) => `Everyone who may write to the agent can use the server ${name}.`),
  }),
  defineAuditCheck('settings', {
    id: 'mcp.unasked',
    severity: 'warning',
    title: "Changes by MCP tools need a person's approval.",
    advice: 'Remove "approval: never". Only tools that change something then ask for approval.',
    run: (facts) =>
      listServers(facts)
        .filter(({ approval }) => approval === 'never')
        .map(({ name }) => `The tools of the server ${name} run without approval.`),
  }),
  defineAuditCheck('settings', {
    id: 'mcp.without-tls',
    severity: 'warning',
    title: 'MCP servers on other machines are reached over HTTPS.',
    advice:
      'Use https://. Otherwise, others on the network can read the traffic and impersonate the server.',
    run: (facts) =>
      listServers(facts)
        .filter(({ url }) => url?.startsWith('http://') && !isLoopbackHost(getHost(url)))
        .map(
          ({ name, url = '' }) => `The server ${name} on ${getHost(url)} is reached without TLS.`,
        ),
  }),
  defineAuditCheck('settings', {
    id: 'mcp.key-in-address',
    severity: 'warning',
    title: 'URLs and arguments for MCP servers do not contain keys.',
    advice:
      'Put the key into headers or env instead. URLs appear in logs, and arguments appear in the process list.',
    run: (facts) =>
      listServers(facts).flatMap(({ name, url, args }) => [
        ...(url !== undefined && containsUrlKey(url)
          ? [`The URL of the server ${name} contains a key.`]
          : []),
        ...(args.some((one, at) => isKeyArgument(one, args[at + 1]))
          ? [`The arguments of the server ${name} contain a key.`]
          : []),
      ]),
  }),
  defineAuditCheck('settings', {
    id: 'mcp.unpinned',
    severity: 'warning',
    title: 'Programs for MCP servers are pinned to a version.',
    advice:
      'Pin a version, such as "some-server@1.2.3". Otherwise, each start runs the latest release.',
    run: (facts) =>
      listServers(facts).flatMap(({ name, command, args }) => {
        const fetched = command === undefined ? null : findUnpinnedPackage(command, args);
        return fetched === null
          ? []
          : [`The server ${name} runs the newest version of ${fetched}.`];
      }),
  }),
  defineAuditCheck('files', {
    id: 'mcp.changed',
    severity: 'warning',
    title: 'The tool descriptions from MCP servers match the accepted ones.',
    advice:
      'Read the descriptions with "parley prompt", then run "parley audit accept SERVER". A model follows these descriptions.',
    run: ({ mcpChanges }) =>
      mcpChanges.map(
        ({ server, changes }) => `The tools of the server ${server} have changed: ${changes}.`,
      ),
  }),
];

interface AutoRule {
  readonly rule: string;
  readonly tool: string;
  /** The pattern for the arguments; null if the rule matches the tool with any arguments. */
  readonly pattern: string | null;
}

function parseRule(rule: string): AutoRule {
  const colon = rule.indexOf(':');
  if (colon === -1) return { rule, tool: rule, pattern: null };
  return { rule, tool: rule.slice(0, colon), pattern: rule.slice(colon + 1) };
}

function listRules({ settings }: FactsFor<'settings'>, tool: string): readonly AutoRule[] {
  return settings.approvals.auto.map(parseRule).filter((one) => one.tool === tool);
}

/**
 * Matches patterns such as `git *`, `git*` and `npm run *`, in which the text before the star does
 * not determine the command.
 */
function isBroadCommand(pattern: string): boolean {
  const star = pattern.indexOf('*');
  if (star <= 0 || pattern.trim().startsWith('*')) return false;
  const [program = '', ...rest] = pattern.slice(0, star).trim().split(/\s+/);
  return rest.length === 0 || INTERPRETERS.has(program.replace(/^.*\//, ''));
}

/**
 * Matches patterns with a star directly after the host: `https://example.com*` also matches
 * `https://example.com.evil.net/`.
 */
function isHostPrefix(pattern: string): boolean {
  return pattern.includes('*') && !/^https?:\/\/[^/*]+\//.test(pattern);
}

/** Names of MCP tools contain two underscores. */
function isChangingTool(tool: string): boolean {
  return CHANGING.has(tool) || tool.includes('__');
}

function listServers({ settings }: FactsFor<'settings'>) {
  return Object.entries(settings.mcp).map(([name, server]) => ({ name, ...server }));
}

function containsUrlKey(address: string): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  if (url.username !== '' || url.password !== '') return true;
  return [...url.searchParams].some(([name, value]) => value !== '' && SECRET_NAME.test(name));
}

function isKeyArgument(argument: string, next: string | undefined): boolean {
  const [, name = '', value] = /^--?([\w-]+)(?:=(.+))?$/.exec(argument) ?? [];
  if (!SECRET_NAME.test(name)) return false;
  return value !== undefined || (next !== undefined && !next.startsWith('-'));
}

/** Returns the package that each start fetches without a pinned version; null if there is none. */
function findUnpinnedPackage(command: string, args: readonly string[]): string | null {
  const program = command.replace(/^.*\//, '');
  const isNpm = program === 'npx' || program === 'bunx' || program === 'pnpx';
  if (!isNpm && program !== 'uvx') return null;
  // A value that follows a flag for keys is never printed.
  const named = args.find(
    (argument, at) => !argument.startsWith('-') && !SECRET_NAME.test(args[at - 1] ?? ''),
  );
  if (named === undefined || /^[./~]/.test(named)) return null;
  const version = isNpm ? /^@?[^@]+@(.+)$/.exec(named)?.[1] : /(?:==|@)(.+)$/.exec(named)?.[1];
  return version === undefined || !/\d/.test(version) ? named : null;
}
