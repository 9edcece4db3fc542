import { BUILT_IN_TOOLS } from '@parley/agent';
import { findNearestWord, type SettingsProblem } from '@parley/settings';
import { z } from 'zod';
import type { LoadedSettings } from './settings.ts';

const Names = z.array(z.string()).optional();
/** Lists of tools in the settings; each agent can have its own lists. */
const Lists = z.object({
  tools: z.object({ allow: Names, block: Names }).optional(),
  approvals: z.object({ ask: Names, auto: Names }).optional(),
});

/**
 * Finds tool names in the settings that do not exist in this installation. A rule for an unknown
 * tool never applies, even if it is meant to block a tool (D12). `added` contains the tools from
 * plugins. MCP tools are not checked, because servers can add and remove them; their names start
 * with the server's name.
 */
export function findUnknownTools(
  { settings }: Pick<LoadedSettings, 'settings'>,
  added: readonly string[],
): readonly SettingsProblem[] {
  const known = [...BUILT_IN_TOOLS, ...added];
  const servers = Object.keys(settings.mcp);
  const isKnown = (tool: string): boolean =>
    known.includes(tool) || servers.some((server) => tool.startsWith(`${server}_`));
  const sections: readonly (readonly [string, unknown])[] = [
    ['', settings],
    ...Object.entries(settings.agents).map(([name, own]) => [`agents.${name}.`, own] as const),
  ];
  return sections.flatMap(([at, section]) => {
    const { tools, approvals } = Lists.safeParse(section).data ?? {};
    const lists = {
      'tools.allow': tools?.allow,
      'tools.block': tools?.block,
      'approvals.ask': approvals?.ask,
      'approvals.auto': approvals?.auto,
    };
    return Object.entries(lists).flatMap(([list, written = []]) =>
      written.flatMap((entry, nth) => {
        // A rule in `approvals.auto` may name the first argument after a colon.
        const tool = entry.replace(/:.*$/s, '');
        return isKnown(tool)
          ? []
          : [createNoEffectProblem(`${at}${list}[${nth}]`, entry, findNearestWord(tool, known))];
      }),
    );
  });
}

function createNoEffectProblem(
  path: string,
  entry: string,
  meant: string | undefined,
): SettingsProblem {
  return {
    kind: 'no-effect',
    path,
    found: JSON.stringify(entry),
    expected: "a tool name; names of MCP tools start with the server's name and _",
    ...(meant !== undefined && { nearest: meant }),
  };
}
