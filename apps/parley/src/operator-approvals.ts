import { diffSouls } from '@parley/agent';
import { escapeAmbiguousCharacters } from '@parley/agent/shown-arguments';
import type { OperatorApprovals } from '@parley/gateway';
import type { SettingsChange } from '@parley/settings/edit';
import type { Store } from '@parley/store';
import type { Workspace } from '@parley/workspace';
import { z } from 'zod';
import { changeSettings, readAgentSections, type SettingsFileDeps } from './channels.ts';
import { findCallPath } from './commands/checks/record-facts.ts';
import { CliError } from './data-folder.ts';
import { checkSettings, findChosenAgent } from './settings.ts';

interface ApprovalDeps extends SettingsFileDeps {
  readonly store: Pick<Store, 'audit' | 'conversations'>;
  readonly workspace: Pick<Workspace, 'agentFiles' | 'folder'>;
  /**
   * The name of the agent; undefined for the default agent, which uses the rules of the
   * installation (F14).
   */
  readonly name: string | undefined;
}

/**
 * Creates the service for decisions outside chats: the approval rules, and the files that await a
 * decision (G05, W09).
 */
export function createOperatorApprovals(deps: ApprovalDeps): OperatorApprovals {
  return { rules: createApprovalRules(deps), files: createAgentFiles(deps) };
}

/**
 * Edits the `approvals.auto` rules in the settings file. A running gateway reloads the changed
 * settings file (D12).
 */
export function createApprovalRules(
  deps: SettingsFileDeps & Pick<ApprovalDeps, 'name'>,
): OperatorApprovals['rules'] {
  const { name, folder } = deps;
  const list = () => {
    const loaded = checkSettings(deps.folder, deps.env, deps.channels);
    return loaded.kind === 'ok' ? findChosenAgent(loaded, name).settings.approvals.auto : [];
  };
  /** An agent without its own list gets a list that starts with the inherited rules. */
  const change = (kind: 'add' | 'take', value: string): SettingsChange => {
    const { path: at, values } = readAgentSections(folder, name);
    const path = [...at, 'approvals', 'auto'];
    if (name === undefined || OwnRules.safeParse(values).success) return { kind, path, value };
    const others = list().filter((rule) => rule !== value);
    return { kind: 'set', path, value: kind === 'add' ? [...others, value] : others };
  };
  return {
    list,
    async allow(value) {
      changeSettings(deps, [change('add', value)], 'The rule was not added');
    },
    async revoke(value) {
      changeSettings(deps, [change('take', value)], 'The rule was not removed');
    },
  };
}

const OwnRules = z.object({ approvals: z.object({ auto: z.array(z.string()) }) });

const DONE = {
  open: 'is readable by everyone who may write to the agent',
  keep: 'stays yours alone.',
} as const;

/**
 * Returns the files written by the agent that await a person's decision (W09). The turn journal
 * shows in which conversation each file was written.
 */
function createAgentFiles({ store, workspace, clock }: ApprovalDeps): OperatorApprovals['files'] {
  const { agentFiles, folder } = workspace;
  return {
    async list() {
      const files = await agentFiles.list();
      if (files.length === 0) return [];
      const writes = await store.audit.writes(['write', 'edit'], 0);
      return Promise.all(
        files.map(async ({ content, ...file }) => {
          const write = writes.find(({ input }) => findCallPath(input, folder) === file.name);
          const conversation =
            write && (await store.conversations.details(write.conversationId, clock()));
          const writtenIn = conversation?.title ?? null;
          return { ...file, writtenIn, shown: escapeAmbiguousCharacters(content) };
        }),
      );
    },
    async settle({ name, print, decision }) {
      const problem = await agentFiles.settle(name, print, decision);
      if (problem !== null) throw new CliError('file-unsettled', problem);
      return { text: `${name} ${DONE[decision]}` };
    },
    async diffOf({ shown }) {
      const proposed = parseProposedFile(shown);
      if (proposed === null) return null;
      const now = await agentFiles.content(proposed.path);
      return diffSouls(now === null ? '' : escapeAmbiguousCharacters(now).trimEnd(), proposed.text);
    },
  };
}

/**
 * Returns the path and the complete new text of the file in an approval request, as shown to
 * people; null if the request does not concern a file.
 */
export function parseProposedFile(
  shown: string,
): { readonly path: string; readonly text: string } | null {
  const [, path, whole] =
    /^path: "(.*)"\n(?:readers: .*\n)?whole_file:([\s\S]*)$/.exec(shown) ?? [];
  if (path === undefined || whole === undefined || path.includes('\\')) return null;
  const inline = /^ "(.*)"$/.exec(whole);
  if (inline !== null) return { path, text: inline[1] ?? '' };
  const lines = whole.split('\n').slice(1);
  return {
    path,
    text: lines
      .map((line) => line.replace(/^\| ?/, ''))
      .join('\n')
      .trimEnd(),
  };
}
