import type { Scene } from '../scene.ts';
import { approvalsEmbedded, approvalsShared } from './approvals.ts';
import { discordAlone, discordShared } from './discord.ts';
import { disk, olderCopy, quiet, server } from './disk.ts';
import { gateways } from './gateways.ts';
import { groups } from './groups.ts';
import { limits, slow, uncertain } from './platforms.ts';
import { proactiveEmbedded, proactiveShared } from './proactive.ts';
import { strangersEmbedded, strangersShared } from './strangers.ts';
import { embedded, shared } from './talk.ts';
import { toolsEmbedded, toolsShared } from './tools.ts';
import { upgrade } from './upgrade.ts';
import { upkeepEmbedded, upkeepShared } from './upkeep.ts';

/**
 * The scenes of a run that names none, which take turns. A scene joins them when hundreds of its seeds have passed, since
 * a false alarm would stop every change.
 */
export const SETTLED_SCENES: readonly Scene[] = [embedded, shared, groups, quiet];

/** All scenes, by whose names a run asks for them. */
export const SCENES: readonly Scene[] = [
  embedded,
  shared,
  uncertain,
  limits,
  groups,
  gateways,
  slow,
  discordAlone,
  discordShared,
  toolsEmbedded,
  toolsShared,
  approvalsEmbedded,
  approvalsShared,
  disk,
  olderCopy,
  quiet,
  server,
  upgrade,
  strangersEmbedded,
  strangersShared,
  proactiveEmbedded,
  proactiveShared,
  upkeepEmbedded,
  upkeepShared,
];
