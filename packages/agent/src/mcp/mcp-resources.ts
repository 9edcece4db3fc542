import type { McpServers } from '@parley/tools/mcp';
import { z } from 'zod';
import { runWithTimeLimit } from '../time.ts';
import { createFailedOutcome, defineTool, type Tool } from '../tools/tool.ts';

/**
 * The name by which the settings allow or block a server's resources, as if they were one of its
 * tools.
 */
export const RESOURCES = 'resources';

interface ResourceToolDeps {
  readonly servers: Pick<McpServers, 'resources' | 'resource'>;
  readonly server: string;
  readonly rules: {
    readonly audience: Tool['audience'];
    readonly approval?: Tool['approval'] | undefined;
    readonly timeoutMs: number;
  };
  readonly name: string;
}

/**
 * Lists and reads one server's resources (G03). Only resources that the model requests cost tokens.
 */
export function createResourceTool({ servers, server, rules, name }: ResourceToolDeps): Tool {
  const tool = defineTool({
    name,
    summary: `Lists the resources of ${server}, such as files and records, or reads one.`,
    hint: 'Without uri it lists what there is.',
    tier: 'external-mcp',
    effect: 'read',
    audience: rules.audience,
    approval: rules.approval ?? 'never',
    input: z.object({
      uri: z
        .string()
        .trim()
        .max(2_000)
        .optional()
        .describe('The address of the resource, as it is listed.'),
    }),
    async run({ uri }, { signal }) {
      const limits = { ms: rules.timeoutMs, stop: signal };
      if (uri === undefined || uri === '') {
        const text = await runWithTimeLimit(limits, (limited) =>
          servers.resources(server, limited),
        );
        return { text: text === '' ? 'It has none now.' : text };
      }
      const { failed, ...found } = await runWithTimeLimit(limits, (limited) =>
        servers.resource(server, uri, limited),
      );
      return failed ? createFailedOutcome(found.text) : found;
    },
  });
  return { ...tool, foreign: true };
}
