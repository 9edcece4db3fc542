import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CaseServices, type EvalCase, listLimits } from '@parley/agent/evals';
import { createCheckRunner, silentLogger, systemTime } from '@parley/core';
import type { ClaimedTurn, Store } from '@parley/store';
import { SOUL } from '@parley/workspace';
import { HISTORY, toTurnLimits } from '../../access.ts';
import { CliError, type DataFolder } from '../../data-folder.ts';
import type { LoadedPlugins } from '../../plug-in.ts';
import { addHostedChannels, type ChosenAgent, findChosenAgent } from '../../settings.ts';
import { openPreviewServices } from '../prompt/preview-prompt.ts';
import { createPreviewedTurn, parsePreviewRequest } from '../prompt/request.ts';

export interface EvaluationDeps {
  /** The plugins of this process, and the settings with their channels. */
  readonly plugged: Pick<LoadedPlugins, 'loaded' | 'definitions' | 'agent'>;
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  /** The name of the agent; undefined for the default agent. */
  readonly name: string | undefined;
  /** Null if there is no database, as in CI. */
  readonly store: Pick<Store, 'souls'> | null;
}

/** Everything that the cases of one agent share. */
export interface Evaluation {
  readonly agent: ChosenAgent;
  readonly workspace: string;
  readonly services: CaseServices;
  /** The limits that an outline records. */
  readonly limits: Readonly<Record<string, number>>;
  /** Creates the turn of a case in the form in which a worker claims it. */
  toTurn(value: EvalCase): Promise<ClaimedTurn>;
}

/** Opens an agent for evaluations, with the services of a preview, which neither send nor write. */
export async function openEvaluation({
  plugged,
  folder,
  env,
  name,
  store,
}: EvaluationDeps): Promise<Evaluation> {
  const agent = findChosenAgent(plugged.loaded, name);
  const { settings } = agent;
  const { id, workspace } = settings.agent;
  if (!existsSync(join(workspace, 'AGENTS.md')))
    throw new CliError('eval-workspace', `There is no workspace at ${workspace} yet.`);
  const soul = store === null ? undefined : { name: SOUL, current: () => store.souls.applied(id) };
  const preview = await openPreviewServices(settings, {
    ...{ folder, env, ...systemTime, log: silentLogger, name: agent.name },
    plugins: plugged.agent,
    ...(soul !== undefined && { soul }),
  });
  const limited = { history: HISTORY, limits: toTurnLimits(settings) };
  const channels = addHostedChannels(plugged.definitions, plugged.loaded).map((one) => one.id);
  const place = { channels, agent: id, name: agent.name, heartbeat: async () => null };
  return {
    ...{ agent, workspace, limits: listLimits(limited) },
    services: { ...preview, ...limited, checks: createCheckRunner() },
    async toTurn({ message, messages, at }) {
      const now = at === undefined ? systemTime.clock() : Date.parse(at);
      if (messages !== undefined) return claimMessages(messages);
      const request = parsePreviewRequest({ ...message });
      return (await createPreviewedTurn(request, { ...place, now })).turn;
    },
  };
}

function claimMessages(messages: NonNullable<EvalCase['messages']>): ClaimedTurn {
  return {
    ...{ turnId: 'case', conversationId: messages[0]?.conversationId ?? '', session: 1 },
    messages: messages.map(({ fromOwner, ...row }, at) => ({
      ...row,
      seq: at + 1,
      ...(fromOwner !== undefined && { fromOwner }),
    })),
    ...{ steps: [], resumed: false, attempts: 0, groupContext: [] },
  };
}
