import { hostOf, isLoopback } from './access-checks.ts';
import type { AuditFacts, Check } from './facts.ts';

/** They run what they are given, so no prefix of their arguments makes a call harmless. */
const INTERPRETERS: ReadonlySet<string> = new Set([
  ...['sh', 'bash', 'zsh', 'env', 'sudo', 'xargs', 'find', 'ssh', 'make', 'docker'],
  ...['node', 'npm', 'npx', 'python', 'python3', 'uvx', 'perl', 'ruby', 'php', 'awk'],
]);
/** Tools whose unasked use changes files or reaches other people. */
const CHANGING: ReadonlySet<string> = new Set([
  ...['write', 'edit', 'message', 'send_file', 'cron', 'web_fetch'],
]);
const SECRET_NAME = /(token|key|secret|passw|auth|credential)/i;

export const TOOL_CHECKS: readonly Check[] = [
  {
    id: 'exec.enabled',
    severity: 'info',
    holds: 'The agent runs no commands.',
    remedy: 'Set exec.enabled to false if you do not use it.',
    find: ({ settings: { exec } }) =>
      exec.enabled ? ['Commands are on, for owners in direct chats.'] : [],
  },
  {
    id: 'exec.unasked',
    severity: 'critical',
    holds: 'A person approves each command.',
    remedy:
      'Set exec.approval to ask: a page or a file that the agent reads may tell it what to run.',
    find: ({ settings: { exec } }) =>
      exec.enabled && exec.approval === 'never' ? ['Commands run without approval.'] : [],
  },
  {
    id: 'exec.network',
    severity: 'warning',
    holds: 'Commands reach no network.',
    remedy: 'Set exec.network to false: what a command reads it could send anywhere.',
    find: ({ settings: { exec } }) =>
      exec.enabled && exec.network
        ? ['Commands reach the network and all servers of this machine.']
        : [],
  },
  {
    id: 'exec.sandbox',
    severity: 'warning',
    holds: 'The sandbox of commands works on this machine.',
    remedy:
      'Install bubblewrap and allow user namespaces. Until then no command runs: none runs unprotected.',
    find: ({ settings: { exec }, sandbox }) =>
      exec.enabled && sandbox.kind === 'fails' ? [sandbox.reason] : [],
  },
  {
    id: 'approvals.any-command',
    severity: 'critical',
    holds: 'No rule of approvals.auto lets every command run.',
    remedy: 'Name whole commands instead, such as "exec:git status".',
    find: (facts) =>
      rulesOf(facts, 'exec')
        .filter(({ pattern }) => pattern === null || pattern.trim().startsWith('*'))
        .map(({ rule }) => `The rule "${rule}" lets every command run without approval.`),
  },
  {
    id: 'approvals.broad-command',
    severity: 'warning',
    holds: 'Rules for commands name more than a program.',
    remedy:
      'Name the subcommand and leave out the *, such as "exec:git status": most programs can start others by an option.',
    find: (facts) =>
      rulesOf(facts, 'exec')
        .filter(({ pattern }) => pattern !== null && isBroadCommand(pattern))
        .map(({ rule }) => `The rule "${rule}" covers more than it seems to.`),
  },
  {
    id: 'approvals.host-prefix',
    severity: 'warning',
    holds: 'Rules for web pages name the whole host.',
    remedy: 'Put a / behind the host: "web_fetch:https://example.com/*" matches no other host.',
    find: (facts) =>
      rulesOf(facts, 'web_fetch')
        .filter(({ pattern }) => pattern !== null && isHostPrefix(pattern))
        .map(({ rule }) => `The rule "${rule}" also matches other hosts.`),
  },
  {
    id: 'approvals.unasked-tool',
    severity: 'warning',
    holds: 'No rule lets a tool that changes something run whatever it is given.',
    remedy: 'Name what is meant, such as "write:notes/*".',
    find: ({ settings }) =>
      settings.approvals.auto
        .map(ruleOf)
        .filter(({ tool, pattern }) => isChanging(tool) && (pattern ?? '*').startsWith('*'))
        .map(({ rule }) => `The rule "${rule}" lets every such call run without approval.`),
  },
  {
    id: 'web.unasked',
    severity: 'warning',
    holds: 'The agent asks before it opens addresses that outsiders gave it.',
    remedy: 'Remove web.fetch.approval: an address can carry away what the agent knows.',
    find: ({ settings: { web } }) =>
      web.fetch.enabled && web.fetch.approval === 'never'
        ? ['Pages are opened without approval.']
        : [],
  },
  {
    id: 'mcp.everyone',
    severity: 'warning',
    holds: 'MCP servers are there for owners alone.',
    remedy: 'Remove "audience: everyone", unless strangers may use all that the server can do.',
    find: (facts) =>
      servers(facts)
        .filter(({ audience }) => audience === 'everyone')
        .map(({ name }) => `Everybody who may write can use the server ${name}.`),
  },
  {
    id: 'mcp.unasked',
    severity: 'warning',
    holds: 'A person approves what tools of MCP servers change.',
    remedy: 'Remove "approval: never": then tools that only read are not asked about, others are.',
    find: (facts) =>
      servers(facts)
        .filter(({ approval }) => approval === 'never')
        .map(({ name }) => `No tool of the server ${name} is asked about.`),
  },
  {
    id: 'mcp.without-tls',
    severity: 'warning',
    holds: 'MCP servers on other machines are reached over https.',
    remedy: 'Use https://: who is on the way can read along, and answer in place of the server.',
    find: (facts) =>
      servers(facts)
        .filter(({ url }) => url?.startsWith('http://') && !isLoopback(hostOf(url)))
        .map(
          ({ name, url = '' }) => `The server ${name} on ${hostOf(url)} is reached without TLS.`,
        ),
  },
  {
    id: 'mcp.key-in-address',
    severity: 'warning',
    holds: 'No address or argument of an MCP server holds a key.',
    remedy:
      'Put it into headers or env: addresses are in logs, arguments in the list of processes.',
    find: (facts) =>
      servers(facts).flatMap(({ name, url, args }) => [
        ...(url !== undefined && hasKey(url)
          ? [`The address of the server ${name} holds a key.`]
          : []),
        ...(args.some((one, at) => isKeyArgument(one, args[at + 1]))
          ? [`The arguments of the server ${name} hold a key.`]
          : []),
      ]),
  },
  {
    id: 'mcp.unpinned',
    severity: 'warning',
    holds: 'Programs of MCP servers are fetched in a fixed version.',
    remedy:
      'Name a version, such as "some-server@1.2.3": else each start runs whatever was published last.',
    find: (facts) =>
      servers(facts).flatMap(({ name, command, args }) => {
        const fetched = command === undefined ? null : unpinnedPackage(command, args);
        return fetched === null
          ? []
          : [`The server ${name} runs ${fetched} in whatever version is newest.`];
      }),
  },
  {
    id: 'mcp.changed',
    severity: 'warning',
    holds: 'The tools of MCP servers are described as when they were accepted.',
    remedy:
      'Look at them with "parley prompt", then "parley audit accept SERVER". A description is text that the model follows.',
    find: ({ mcpChanges }) =>
      mcpChanges.map(
        ({ server, changes }) => `The tools of the server ${server} have changed: ${changes}.`,
      ),
  },
];

interface Rule {
  readonly rule: string;
  readonly tool: string;
  /** Null: the tool whatever it is given. */
  readonly pattern: string | null;
}

function ruleOf(rule: string): Rule {
  const colon = rule.indexOf(':');
  if (colon === -1) return { rule, tool: rule, pattern: null };
  return { rule, tool: rule.slice(0, colon), pattern: rule.slice(colon + 1) };
}

function rulesOf({ settings }: AuditFacts, tool: string): readonly Rule[] {
  return settings.approvals.auto.map(ruleOf).filter((one) => one.tool === tool);
}

/** `git *`, `git*`, `npm run *`: the text before the star leaves open what is run. */
function isBroadCommand(pattern: string): boolean {
  const star = pattern.indexOf('*');
  if (star <= 0 || pattern.trim().startsWith('*')) return false;
  const [program = '', ...rest] = pattern.slice(0, star).trim().split(/\s+/);
  return rest.length === 0 || INTERPRETERS.has(program.replace(/^.*\//, ''));
}

/** A star before the path: `https://example.com*` is also `https://example.com.evil.net/`. */
function isHostPrefix(pattern: string): boolean {
  return pattern.includes('*') && !/^https?:\/\/[^/*]+\//.test(pattern);
}

/** Tools of MCP servers have two underscores in their names. */
function isChanging(tool: string): boolean {
  return CHANGING.has(tool) || tool.includes('__');
}

function servers({ settings }: AuditFacts) {
  return Object.entries(settings.mcp).map(([name, server]) => ({ name, ...server }));
}

function hasKey(address: string): boolean {
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

/** The package that is fetched at each start without a version; null where none is. */
function unpinnedPackage(command: string, args: readonly string[]): string | null {
  const program = command.replace(/^.*\//, '');
  const isNpm = program === 'npx' || program === 'bunx' || program === 'pnpx';
  if (!isNpm && program !== 'uvx') return null;
  // The value after the flag of a key is never shown.
  const named = args.find(
    (argument, at) => !argument.startsWith('-') && !SECRET_NAME.test(args[at - 1] ?? ''),
  );
  if (named === undefined || /^[./~]/.test(named)) return null;
  const version = isNpm ? /^@?[^@]+@(.+)$/.exec(named)?.[1] : /(?:==|@)(.+)$/.exec(named)?.[1];
  return version === undefined || !/\d/.test(version) ? named : null;
}
