import { basename } from 'node:path';
import type { PromptContext } from '../prompt-context.ts';

/** The workspace as the prompt writes it: the operator's home folder is `~`, and guests see its name alone. */
export function shownWorkspace({
  facts: { workspace },
  home = '',
  reader,
}: Pick<PromptContext, 'facts' | 'home' | 'reader'>): string {
  if (reader.kind !== 'owner') return basename(workspace);
  if (home === '') return workspace;
  if (workspace === home) return '~';
  return workspace.startsWith(`${home}/`) ? `~${workspace.slice(home.length)}` : workspace;
}
