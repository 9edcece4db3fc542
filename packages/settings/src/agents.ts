import { join, sep } from 'node:path';
import type { z } from 'zod';
import { describeRoute, type Route } from './agents-schema.ts';
import { checkValue, findNearestWord, formatOneOf } from './check.ts';
import { completeSettings, type Settings, type SettingsLocation } from './complete-settings.ts';
import { CoreSettings } from './core-schema.ts';
import { loadProfileAt, type Profile, type ProfileScope, resolveModel } from './profiles.ts';
import {
  type Block,
  isBlock,
  type SettingsFinding,
  type SettingsPath,
  type SettingsProblem,
  type SettingsSource,
  toSettingsProblem,
} from './source.ts';

/** The possible forms of an agent's `model` section. */
export interface ModelForms<Model> {
  readonly modelSchema: z.ZodType<Model>;
  /** The models that agents can use by name, each as a complete `model` section. */
  modelChoices?(main: Model): ReadonlyMap<string, Model>;
}

interface ParsedAgent<Model> {
  readonly profile: Profile | undefined;
  readonly model: Model | undefined;
}

/** The other agents' profiles and models as read from the file. */
interface ParsedAgents<Model> {
  /**
   * The profiles and models by agent name; the model is absent if the agent uses the default
   * agent's model.
   */
  readonly parts: ReadonlyMap<string, ParsedAgent<Model>>;
  readonly problems: readonly SettingsProblem[];
  readonly warnings: readonly SettingsProblem[];
  readonly secrets: readonly string[];
  readonly files: readonly string[];
}

/**
 * Reads the profiles and models of all other agents; `main` is the default agent's validated model,
 * or absent if it is invalid.
 */
export function readAgents<Model>(
  source: SettingsSource,
  main: Model | undefined,
  forms: ModelForms<Model>,
  place: ProfileScope,
): ParsedAgents<Model> {
  const { agents } = source.value;
  const read = Object.entries(isBlock(agents) ? agents : {}).flatMap(([name, written]) => {
    if (!isBlock(written)) return [];
    const at = ['agents', name];
    const { profile, ...profiled } = loadProfileAt([...at, 'profile'], source, place);
    const { model, ...modelled } = readModel(written.model, { at, profile, main }, source, forms);
    const idle = profile?.plugins === undefined ? [] : [warnPluginsIgnored(at, source)];
    return [{ name, parts: { profile, model }, idle, profiled, modelled }];
  });
  return {
    parts: new Map(read.map(({ name, parts }) => [name, parts])),
    problems: read.flatMap((one) => [...one.profiled.problems, ...one.modelled.problems]),
    warnings: read.flatMap((one) => [
      ...one.profiled.warnings,
      ...one.modelled.warnings,
      ...one.idle,
    ]),
    secrets: read.flatMap(({ profiled }) => profiled.secrets),
    files: read.flatMap(({ profiled }) => profiled.files),
  };
}

function warnPluginsIgnored(at: SettingsPath, source: SettingsSource): SettingsProblem {
  const expected =
    'a profile without plugins, which belong to the whole installation, in `plugins`';
  return toSettingsProblem({ kind: 'value', path: [...at, 'profile'], expected }, source);
}

/**
 * Reads an agent's model: its own (a block or a word), one from `model.choices` by name, or the
 * profile's.
 */
function readModel<Model>(
  written: unknown,
  {
    at,
    profile,
    main,
  }: { at: SettingsPath; profile: Profile | undefined; main: Model | undefined },
  source: SettingsSource,
  { modelSchema, modelChoices }: ModelForms<Model>,
) {
  const path = [...at, 'model'];
  const nothing = { model: undefined, problems: [], warnings: [] };
  if (written === undefined && profile?.model !== undefined) {
    return { ...nothing, model: modelSchema.parse(profile.model) };
  }
  const own = resolveModel(written, undefined, profile?.modelName) ?? profile?.modelName;
  if (own === undefined) return nothing;
  if (typeof own !== 'string' || modelSchema.safeParse(own).success) {
    const checked = checkValue(modelSchema, own, path, source);
    const { warnings } = checked;
    return checked.kind === 'ok'
      ? { ...nothing, warnings, model: checked.value }
      : { ...nothing, problems: checked.problems, warnings };
  }
  if (main === undefined) return nothing;
  const choices = modelChoices?.(main) ?? new Map<string, Model>();
  const model = choices.get(own);
  if (model !== undefined) return { ...nothing, model };
  const names = choices.size === 0 ? '' : `: ${formatOneOf([...choices.keys()])}`;
  const expected = `a block like \`model\`, or the name of a model in model.choices${names}`;
  const place = written === undefined ? [...at, 'profile'] : path;
  const meant = findNearestWord(own, choices.keys());
  const finding: SettingsFinding = { kind: 'value', path: place, expected, nearest: meant };
  return { ...nothing, problems: [toSettingsProblem(finding, source)] };
}

/** Finds conflicts between the agents' names and chats. */
export function findAgentConflicts(core: CoreSettings, source: SettingsSource): SettingsFinding[] {
  const { agent, agents, api, hooks, routes } = core;
  const names = [...new Set([agent.id, ...Object.keys(agents)])];
  const taken = `another name: "${agent.id}" is the agent in the \`agent\` section`;
  const helpers = (name: string, path: SettingsPath, list: readonly string[] = []) => {
    const others = names.filter((one) => one !== name);
    return list.flatMap((one, nth) => findUnknownName(one, [...path, 'delegates', nth], others));
  };
  return [
    ...(Object.hasOwn(agents, agent.id)
      ? [{ kind: 'value', path: ['agents', agent.id], expected: taken } as const]
      : []),
    ...helpers(agent.id, ['agent'], agent.delegates),
    ...Object.entries(agents).flatMap(([name, one]) =>
      helpers(name, ['agents', name], one.delegates),
    ),
    ...routes.flatMap((route, nth) =>
      findUnknownName(route.agent, ['routes', nth, 'agent'], names),
    ),
    ...Object.entries(api.clients).flatMap(([name, client]) =>
      findUnknownName(client.agent ?? agent.id, ['api', 'clients', name, 'agent'], names),
    ),
    ...Object.entries(hooks).flatMap(([name, hook]) =>
      findUnknownName(hook.agent ?? agent.id, ['hooks', name, 'agent'], names),
    ),
    ...findDuplicateRoutes(routes, source),
  ];
}

function findUnknownName(
  name: string,
  path: SettingsPath,
  among: readonly string[],
): SettingsFinding[] {
  if (among.includes(name)) return [];
  const expected = among.length === 0 ? 'nothing: there is no other agent' : formatOneOf(among);
  return [{ kind: 'value', path, expected, nearest: findNearestWord(name, among) }];
}

function findDuplicateRoutes(routes: readonly Route[], source: SettingsSource): SettingsFinding[] {
  const first = new Map<string, number>();
  return routes.flatMap((route, nth) => {
    const place = describeRoute(route);
    const earlier = first.get(place);
    if (earlier === undefined) {
      first.set(place, nth);
      return [];
    }
    const line = source.locate(['routes', earlier], 'value')?.line;
    const where = line === undefined ? '' : ` (line ${line})`;
    const expected = `only one rule for ${place}: there is already routes[${earlier}]${where}`;
    return [{ kind: 'value', path: ['routes', nth], expected }];
  });
}

interface AgentDerivationInput<Model> {
  readonly main: Settings<Model>;
  /** The settings file without its profile, before defaults were applied. */
  readonly written: Block;
  readonly read: ParsedAgents<Model>;
}

/**
 * Derives the complete settings of each agent in `agents` (F14). An agent's own keys override its
 * profile, which overrides the file. Keys that define the default agent itself (name, persona,
 * workspace, …) are not inherited; `spend` contains only this agent's caps.
 */
export function deriveAgents<Model>(
  { main, written, read }: AgentDerivationInput<Model>,
  location: SettingsLocation,
): ReadonlyMap<string, Settings<Model>> {
  const derived = Object.entries(main.agents).map(([name, own]): [string, Settings<Model>] => {
    const { model: _, tools, skills, heartbeat, soul, approvals, spend, owners, ...agent } = own;
    const { profile, model = main.model } = read.parts.get(name) ?? {};
    const { model: _m, modelName: _n, plugins: _p, ...given } = profile ?? {};
    const { tools: givenTools, skills: givenSkills, ...character } = given;
    const { timeZone, clockMinutes } = main.agent;
    const core = CoreSettings.parse({
      ...written,
      agent: { timeZone, clockMinutes, ...character, ...agent, id: name },
      tools: over(written.tools, givenTools, tools),
      skills: over(written.skills, givenSkills, skills),
      heartbeat: over(written.heartbeat, heartbeat),
      soul: over(written.soul, soul),
      approvals: over(written.approvals, approvals),
      owners: owners ?? main.owners,
      spend: over({ capOwners: main.spend.capOwners, ...disableStrangerCap(spend) }, spend),
    });
    const whole = completeSettings(core, join('workspaces', name), location);
    return [name, { ...whole, plugins: main.plugins, model }];
  });
  return new Map(derived);
}

const over = (...blocks: readonly unknown[]): Block =>
  Object.assign({}, ...blocks.map((block) => (isBlock(block) ? block : {})));

/**
 * Turns off the default cap for strangers. The installation has such a cap even if it is not set,
 * but an agent is limited only by the caps in its settings.
 */
function disableStrangerCap(spend: Block | undefined): Block {
  return spend?.perPersonDaily === undefined ? { perStrangerDaily: 'off' } : {};
}

/** Finds agents that could access each other's files. */
export function findSharedWorkspaces(all: ReadonlyMap<string, Settings>): SettingsFinding[] {
  const agents = [...all.values()].map(({ agent }) => agent);
  return agents.flatMap(({ id, workspace }, nth) => {
    const other = agents
      .slice(0, nth)
      .find((one) => isInside(one.workspace, workspace) || isInside(workspace, one.workspace));
    if (other === undefined) return [];
    const expected = `a separate folder: ${workspace} is shared with the agent "${other.id}" (${other.workspace})`;
    return [{ kind: 'value', path: ['agents', id, 'workspace'], expected }];
  });
}

const isInside = (folder: string, other: string): boolean =>
  `${folder}${sep}`.startsWith(other.endsWith(sep) ? other : `${other}${sep}`);
