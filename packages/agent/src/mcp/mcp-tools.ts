import { type Logger, reasonOf } from '@parley/contracts';
import type { McpError, McpServers, McpServerView, McpTool } from '@parley/tools/mcp';
import { z } from 'zod';
import { withTimeLimit } from '../time-limit.ts';
import type { Tool, ToolCall, ToolOutcome } from '../tools/tool.ts';
import type { AddedTools } from '../tools/tool-registry.ts';
import type { McpRules, McpRulesByServer } from './mcp-rules.ts';
import { toolNames } from './tool-names.ts';

/** What tools of servers are made with. */
export interface McpToolDeps {
  readonly servers: Pick<McpServers, 'views' | 'call'>;
  readonly rules: McpRulesByServer;
  readonly log: Logger;
}

/**
 * The tools of all connected servers, for a registry that asks each time (G03). What was made of a server
 * is kept until the server changes, and the list is the same as long as none has.
 */
export function mcpTools(deps: McpToolDeps): () => readonly AddedTools[] {
  const made = new Map<string, { readonly view: McpServerView; readonly added: AddedTools }>();
  let all: readonly AddedTools[] = [];
  return () => {
    const views = deps.servers.views();
    const changed = views.filter((view) => made.get(view.name)?.view !== view);
    for (const view of changed) made.set(view.name, { view, added: toolsOfServer(deps, view) });
    if (changed.length > 0) all = [...made.values()].map(({ added }) => added);
    return all;
  };
}

function toolsOfServer(deps: McpToolDeps, { name: server, tools }: McpServerView): AddedTools {
  const from = `the MCP server ${server}`;
  const rules = deps.rules[server];
  if (rules === undefined) return { from, tools: [] };
  const names = toolNames(
    server,
    tools.map(({ name }) => name),
  );
  const { allow, block } = rules.tools;
  const wanted = tools.filter(
    ({ name }) => (allow === undefined || allow.includes(name)) && !block.includes(name),
  );
  return {
    from,
    tools: wanted.flatMap((tool) => {
      const name = names.get(tool.name) ?? tool.name;
      return toolOf(deps, { server, rules, tool, name }) ?? [];
    }),
  };
}

interface Offered {
  readonly server: string;
  readonly rules: McpRules;
  readonly tool: McpTool;
  /** What the model calls it. */
  readonly name: string;
}

/** Null where its schema cannot be checked by: what is called unchecked, is not offered. */
function toolOf(deps: McpToolDeps, offered: Offered): Tool | null {
  const { server, rules, tool, name } = offered;
  const input = schemaOf(deps, offered);
  if (input === null) return null;
  const effect = tool.readOnly ? 'read' : 'external';
  return {
    name,
    summary: tool.description === '' ? `A tool of ${server}.` : tool.description,
    tier: 'external-mcp',
    effect,
    audience: rules.audience,
    foreign: true,
    approval: rules.approval ?? (tool.readOnly ? 'never' : 'ask'),
    input,
    run: (given, call) => callTool(deps, offered, input.parse(given), call),
  };
}

function schemaOf({ log }: McpToolDeps, { server, tool }: Offered): z.ZodType<Arguments> | null {
  try {
    const schema = z.fromJSONSchema({ ...tool.schema });
    return schema.pipe(z.record(z.string(), z.unknown()));
  } catch (error) {
    const facts = { server, tool: tool.name, reason: reasonOf(error) };
    log.warn(facts, 'MCP server: a tool was left out, because its arguments cannot be checked');
    return null;
  }
}

type Arguments = Record<string, unknown>;

async function callTool(
  { servers }: McpToolDeps,
  { server, rules, tool }: Offered,
  input: Arguments,
  { signal }: ToolCall,
): Promise<ToolOutcome> {
  try {
    return await withTimeLimit({ ms: rules.timeoutMs, stop: signal }, (limited) =>
      servers.call(server, tool.name, input, limited),
    );
  } catch (error) {
    if (tool.readOnly || !isLost(error)) throw error;
    const note = `The connection to ${server} was lost before it answered. Whether the call took effect is not known: look before you do it again.`;
    return { text: reasonOf(error), note, failed: true };
  }
}

/** By its code, so that nothing of the protocol is loaded where no server is configured. */
function isLost(error: unknown): boolean {
  const lost: McpError['code'] = 'mcp-lost';
  return error instanceof Error && 'code' in error && error.code === lost;
}
