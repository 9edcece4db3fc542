import {
  type AddedTools,
  type BuiltInToolDeps,
  builtInTools,
  createToolRegistry,
  type ToolProblem,
  type ToolRegistry,
} from '@parley/agent';
import type { Logger } from '@parley/contracts';
import type { LoadedSettings } from './read-settings.ts';

/** What is added to Parley’s own tools. */
export interface OpenToolsOptions {
  readonly added: readonly AddedTools[];
  /** Those that come and go while it runs. */
  readonly live?: () => readonly AddedTools[];
  readonly log: Logger;
}

/** What the agent can do: Parley's own tools, then those that plugins and servers add, as the settings allow. */
export function openTools(
  { allow, block }: LoadedSettings['settings']['tools'],
  own: BuiltInToolDeps,
  { added, live, log }: OpenToolsOptions,
): ToolRegistry {
  const builtIn = builtInTools(own);
  const onProblem = ({ message, ...problem }: ToolProblem) =>
    log.warn(problem, `a tool was left out: ${message}`);
  const { registry, problems } = createToolRegistry({
    builtIn,
    added,
    allow,
    block,
    ...(live !== undefined && { live, onProblem }),
  });
  problems.forEach(onProblem);
  return registry;
}
