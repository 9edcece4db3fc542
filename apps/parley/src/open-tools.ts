import {
  type AddedTools,
  type BuiltInToolDeps,
  builtInTools,
  createToolRegistry,
  type ToolRegistry,
} from '@parley/agent';
import type { Logger } from '@parley/contracts';
import type { LoadedSettings } from './read-settings.ts';

/** What the agent can do: Parley's own tools, then those that plugins add, as the settings allow. */
export function openTools(
  { allow, block }: LoadedSettings['settings']['tools'],
  own: BuiltInToolDeps,
  added: readonly AddedTools[],
  log: Logger,
): ToolRegistry {
  const builtIn = builtInTools(own);
  const { registry, problems } = createToolRegistry({ builtIn, added, allow, block });
  for (const { message, ...problem } of problems) {
    log.warn(problem, `a tool was left out: ${message}`);
  }
  return registry;
}
