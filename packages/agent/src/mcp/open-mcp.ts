import type { ContextSource } from '@parley/prompt';
import type { McpPeer, McpServersDeps, McpServerView, OAuthSettings } from '@parley/tools/mcp';
import type { AddedTools } from '../tools/tool-registry.ts';
import { createMcpSource } from './mcp-prompts.ts';
import { createMcpTools, type McpRules } from './mcp-tools.ts';

export interface McpServerSettings extends McpRules {
  readonly command?: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSettings | undefined;
}

export interface McpServerSummary {
  readonly works: boolean;
  readonly line: string;
  /** The name of an MCP server that requires a person to sign in. */
  readonly signIn?: string;
}

export interface AgentMcp {
  readonly sources: readonly ContextSource[];
  readonly tools: () => readonly AddedTools[];
  lines(): readonly McpServerSummary[];
  close(): Promise<void>;
}

const NO_TOOLS: readonly AddedTools[] = [];

export const NO_MCP: AgentMcp = {
  sources: [],
  tools: () => NO_TOOLS,
  lines: () => [],
  close: async () => {},
};

/** Starts connecting to the servers in the settings without waiting for them. */
export async function openMcp(
  settings: Readonly<Record<string, McpServerSettings>>,
  deps: McpServersDeps,
): Promise<AgentMcp> {
  const all = Object.entries(settings);
  if (all.length === 0) return NO_MCP;
  const { openMcpServers } = await import('@parley/tools/mcp');
  const configs = all.map(([name, server]) => ({ name, peer: toMcpPeer(server) }));
  const servers = openMcpServers(configs, deps);
  const { log } = deps;
  return {
    sources: [createMcpSource({ servers, rules: settings, log })],
    tools: createMcpTools({ servers, rules: settings }),
    lines: () => servers.views().map(toMcpServerSummary),
    close: () => servers.close(),
  };
}

function toMcpPeer({ command, args, env, cwd, url, headers, oauth }: McpServerSettings): McpPeer {
  if (url !== undefined) return { kind: 'http', url, headers, oauth };
  return { kind: 'stdio', command: command ?? '', args, env, cwd };
}

function toMcpServerSummary({
  name,
  state,
  tools,
  prompts,
  refused,
}: McpServerView): McpServerSummary {
  switch (state.kind) {
    case 'connected': {
      const line = `${name}: connected, ${tools.length} tools, ${prompts.length} prompts`;
      return {
        works: true,
        line: refused.length === 0 ? line : `${line}; ${describeOmittedEntries(refused)}`,
      };
    }
    case 'waiting':
      if (state.needsSignIn) {
        return { works: false, line: `${name}: not connected – ${state.reason}`, signIn: name };
      }
      return { works: false, line: `${name}: not connected, retrying soon – ${state.reason}` };
    case 'connecting':
    case 'closed':
      return { works: false, line: `${name}: ${state.kind}` };
  }
}

/** The maximum number of rejected parts that are named; the log lists them all. */
const MAX_NAMED = 3;

function describeOmittedEntries(refused: McpServerView['refused']): string {
  const named = refused.slice(0, MAX_NAMED).map(({ what, reason }) => `${what} (${reason})`);
  const more = refused.length - MAX_NAMED;
  return `left out: ${named.join(', ')}${more > 0 ? `, and ${more} more: see the log` : ''}`;
}
