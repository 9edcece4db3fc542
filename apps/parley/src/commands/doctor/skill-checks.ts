import { COMMANDS, fitMenu, leftOutText } from '@parley/channels';
import { countOf, type Reader, silentLogger } from '@parley/core';
import { nearestWord } from '@parley/settings';
import type { SkillStatus } from '@parley/workspace';
import { openInstalledSkills, skillCommandsOf } from '../../agent-sources.ts';
import { commandLine } from '../../data-folder.ts';
import { openTools } from '../../open-agent.ts';
import { allAgents, type ChosenAgent, type LoadedSettings } from '../../settings.ts';
import { type Check, type Finding, ok, skipped, warning } from './check.ts';
import type { Situation } from './situation.ts';

const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };

/** The skills of each agent: what cannot be used, was guessed, is not in a menu, or is named in the settings alone. */
export function skillChecks(situation: Situation, loaded: LoadedSettings): readonly Check[] {
  const run = async () => {
    const findings = allAgents(loaded).map((agent) => agentFindings(situation, loaded, agent));
    return (await Promise.all(findings)).flat();
  };
  return [{ name: 'skills', run }];
}

async function agentFindings(
  { folder, env, definitions }: Situation,
  loaded: LoadedSettings,
  { name, settings }: ChosenAgent,
): Promise<readonly Finding[]> {
  const known = openTools(settings.tools, {}, { added: [], log: silentLogger });
  const tools = () => [...known.for(OWNER).names, 'load_skill'];
  const from = { tools, added: [], log: silentLogger };
  const skills = openInstalledSkills(settings, { folder, env }, from);
  const all = await skills.list();
  const subject = name === undefined ? undefined : settings.agent.id;
  if (all.length === 0) return [skipped('there are none', subject)];
  // The menus of accounts have the skills of the default agent.
  const menus =
    name === undefined ? await menuFindings(loaded, definitions, skillCommandsOf(skills)) : [];
  const show = `"${commandLine('skills', folder)}" lists them.`;
  const found = [
    ...all.flatMap((one) => skillFindings(one, show)),
    // Those of plugins are not known here.
    ...(settings.plugins.length > 0 ? [] : unknownNames(settings.skills, all)),
    ...menus,
  ];
  const ready = all.filter(({ state }) => state === 'ready').length;
  const findings =
    found.length > 0 ? found : [ok(`${ready} of ${countOf(all.length, 'skill')} ready`)];
  return findings.map((one) => (subject === undefined ? one : { ...one, subject }));
}

function skillFindings(skill: SkillStatus, show: string): readonly Finding[] {
  const { name, state, reason, warnings, location } = skill;
  if (state === 'refused') return [warning(`${name} cannot be used: ${reason}`, show)];
  const fix = `Correct the front matter of ${location}, unless it was understood as it is meant.`;
  return warnings.length === 0 ? [] : [warning(`${name} was guessed: ${warnings.join('; ')}`, fix)];
}

/** Names in the lists of the settings that no skill has. */
function unknownNames(
  { allow = [], block, entries }: LoadedSettings['settings']['skills'],
  all: readonly SkillStatus[],
): readonly Finding[] {
  const names = all.map(({ name }) => name);
  const folded = new Set(names.map((one) => one.toLowerCase()));
  const lists = { allow, block, entries: Object.keys(entries) };
  return Object.entries(lists).flatMap(([list, written]) =>
    written
      .filter((one) => !folded.has(one.toLowerCase()))
      .map((one) => {
        const meant = nearestWord(one, names);
        const hint =
          meant === undefined ? 'Correct the name, or take it out.' : `Did you mean ${meant}?`;
        return warning(`skills.${list} names ${one}, and there is no such skill`, hint);
      }),
  );
}

async function menuFindings(
  { channels }: LoadedSettings,
  definitions: Situation['definitions'],
  commandsFor: ReturnType<typeof skillCommandsOf>,
): Promise<readonly Finding[]> {
  const commands = [...COMMANDS, ...(await commandsFor('others'))];
  const served = Object.values(channels).flatMap((one) => (one.kind === 'ok' ? [one.channel] : []));
  return [...new Set(served)].flatMap((channel) => {
    const menu = definitions.find(({ id }) => id === channel)?.menu;
    const text = menu === undefined ? null : leftOutText(channel, fitMenu(commands, menu).leftOut);
    const fix =
      'Turn off skills that are not used (skills.block), or make more of them "user-invocable: no".';
    return text === null ? [] : [warning(text, fix)];
  });
}
