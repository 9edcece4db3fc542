import { createHash } from 'node:crypto';
import { reasonOf } from '@parley/core';
import type { McpError, McpReply, McpServers, McpServerView, McpTool } from '@parley/tools/mcp';
import { runWithTimeLimit } from '../time.ts';
import type { Tool, ToolCall, ToolOutcome } from '../tools/tool.ts';
import type { AddedTools } from '../tools/tool-registry.ts';
import { createInputSchema } from './mcp-input.ts';
import { createResourceTool, RESOURCES } from './mcp-resources.ts';

export interface McpToolDeps {
  readonly servers: Pick<McpServers, 'views' | 'call' | 'resources' | 'resource'>;
  readonly rules: McpRulesByServer;
}

/**
 * The tools of all connected MCP servers, for the registry's `live` (G03). The list is the same
 * object until a server changes.
 */
export function createMcpTools(deps: McpToolDeps): () => readonly AddedTools[] {
  const made = new Map<string, { readonly view: McpServerView; readonly added: AddedTools }>();
  let all: readonly AddedTools[] = [];
  return () => {
    const views = deps.servers.views();
    const changed = views.filter((view) => made.get(view.name)?.view !== view);
    for (const view of changed) made.set(view.name, { view, added: listServerTools(deps, view) });
    if (changed.length > 0) all = [...made.values()].map(({ added }) => added);
    return all;
  };
}

function listServerTools(
  deps: McpToolDeps,
  { name: server, tools, hasResources }: McpServerView,
): AddedTools {
  const from = `the MCP server ${server}`;
  const rules = deps.rules[server];
  if (rules === undefined) return { from, tools: [] };
  const names = createToolNames(
    server,
    tools.map(({ name }) => name),
  );
  const { allow, block } = rules.tools;
  const isWanted = (name: string) =>
    (allow === undefined || allow.includes(name)) && !block.includes(name);
  const made = tools
    .filter(({ name }) => isWanted(name))
    .map((tool) =>
      createMcpTool(deps, { server, rules, tool, name: names.get(tool.name) ?? tool.name }),
    );
  if (!hasResources || !isWanted(RESOURCES)) return { from, tools: made };
  const taken = new Set(names.values());
  const own = `${server}_${RESOURCES}`;
  const name = taken.has(own) ? `${server}_mcp_${RESOURCES}` : own;
  return { from, tools: [...made, createResourceTool({ ...deps, server, rules, name })] };
}

interface OfferedMcpTool {
  readonly server: string;
  readonly rules: McpRules;
  readonly tool: McpTool;
  readonly name: string;
}

function createMcpTool(deps: McpToolDeps, offered: OfferedMcpTool): Tool {
  const { server, rules, tool, name } = offered;
  const input = createInputSchema(tool);
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
    run: (given, call) => callMcpTool(deps, offered, input.parse(given), call),
  };
}

type McpToolArguments = Record<string, unknown>;

async function callMcpTool(
  { servers }: McpToolDeps,
  { server, rules, tool }: OfferedMcpTool,
  input: McpToolArguments,
  at: ToolCall,
): Promise<ToolOutcome> {
  const once = (reply?: McpReply) =>
    runWithTimeLimit({ ms: rules.timeoutMs, stop: at.signal }, (limited) =>
      servers.call(server, tool.name, input, limited, reply),
    );
  try {
    const isHeld = at.held !== undefined && at.held.kept.length > 0;
    const said = isHeld ? undefined : await once();
    if (said !== undefined && 'text' in said) return said;
    const { callWithQuestions } = await import('./elicitation/call-with-questions.ts');
    const call = { server, tool: tool.name, repeat: once, at };
    const { result, notes } = await callWithQuestions(call, said);
    return notes.length === 0 ? result : { ...result, note: createUnansweredNote(server, notes) };
  } catch (error) {
    if (tool.readOnly || !isConnectionLost(error)) throw error;
    const note = `The connection to ${server} was lost before it answered. It is not known whether the call took effect: check before you do it again.`;
    return { text: reasonOf(error), note, failed: true };
  }
}

function createUnansweredNote(server: string, notes: readonly string[]): string {
  return `During this call ${server} asked for something, and got no answer: ${notes.join('; ')}. Do not answer in its place.`;
}

/**
 * Recognized by its code, so that the protocol library is not loaded when no server is configured.
 */
function isConnectionLost(error: unknown): boolean {
  const lost: McpError['code'] = 'mcp-disconnected';
  return error instanceof Error && 'code' in error && error.code === lost;
}

/** The rules in the settings for the tools of one MCP server. */
export interface McpRules {
  readonly tools: {
    readonly allow?: readonly string[] | undefined;
    readonly block: readonly string[];
  };
  readonly audience: 'owner' | 'everyone';
  /** Default: `never` for tools that are declared read-only, otherwise `ask`. */
  readonly approval?: 'never' | 'ask' | undefined;
  readonly connector?: string | undefined;
  readonly timeoutMs: number;
}

export type McpRulesByServer = Readonly<Record<string, McpRules>>;

/** The maximum length of a name that the strictest provider accepts. */
const MAX_NAME_LENGTH = 64;
const MARK = 6;

/**
 * Names one server's tools: `server_tool`, in a–z, 0–9 and _. If a name is too long, or if two
 * names become identical, a suffix derived from the original name distinguishes them. The suffix is
 * the same at every start. Names from different servers cannot collide, because server names
 * contain no underscore.
 */
export function createToolNames(
  server: string,
  originals: readonly string[],
): ReadonlyMap<string, string> {
  const plain = originals.map((original) => [original, toPlainToolName(server, original)] as const);
  const count = new Map<string, number>();
  for (const [, name] of plain) count.set(name, (count.get(name) ?? 0) + 1);
  return new Map(
    plain.map(([original, name]) => {
      const isFine = name.length <= MAX_NAME_LENGTH && count.get(name) === 1;
      return [original, isFine ? name : addNameHash(name, original)];
    }),
  );
}

function toPlainToolName(server: string, original: string): string {
  const name = original
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return `${server}_${name === '' ? 'tool' : name}`;
}

function addNameHash(name: string, original: string): string {
  const mark = createHash('sha256').update(original).digest('hex').slice(0, MARK);
  return `${name.slice(0, MAX_NAME_LENGTH - MARK - 1)}_${mark}`;
}
