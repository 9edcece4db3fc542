import type { SimulationScene } from '../scene.ts';
import { approvalsEmbedded, approvalsShared } from './approvals.ts';
import { databaseClock, sharedClocks } from './clocks.ts';
import { deaf } from './deaf.ts';
import { discordAlone, discordShared } from './discord.ts';
import { discordCrash } from './discord-crash.ts';
import { discordLate, discordRefused } from './discord-late.ts';
import { disk, olderCopy, quiet, server } from './disk.ts';
import { gateways } from './gateways.ts';
import { giveUps } from './give-ups.ts';
import { groups } from './groups.ts';
import { lateGateways, lateWorkers } from './late.ts';
import { limits, slow, uncertain } from './platforms.ts';
import { proactiveEmbedded, proactiveShared } from './proactive.ts';
import { rounds } from './rounds.ts';
import { strangersEmbedded, strangersShared } from './strangers.ts';
import { takeoversEmbedded, takeoversShared } from './takeovers.ts';
import { embedded, shared } from './talk.ts';
import { toolsEmbedded, toolsShared } from './tools.ts';
import { unluckyEmbedded, unluckyShared } from './unlucky.ts';
import { upgrade } from './upgrade.ts';
import { upkeepEmbedded, upkeepShared } from './upkeep.ts';

/**
 * The scenes of a run that does not name any; they take turns. A scene is added once hundreds of
 * its seeds have passed, since a false alarm would block every change.
 */
export const SETTLED_SCENES: readonly SimulationScene[] = [
  embedded,
  shared,
  groups,
  quiet,
  approvalsEmbedded,
  strangersEmbedded,
];

/** All scenes that a run can name. */
export const SCENES: readonly SimulationScene[] = [
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
  rounds,
  deaf,
  sharedClocks,
  databaseClock,
  giveUps,
  lateGateways,
  lateWorkers,
  discordLate,
  discordRefused,
  discordCrash,
  unluckyEmbedded,
  unluckyShared,
  takeoversEmbedded,
  takeoversShared,
];
