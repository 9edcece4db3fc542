import { locateDataFolder, runStart } from '@parley/cli';
import { z } from 'zod';
import { rerouteHosts } from '../../platforms/chat-sdk/doubles/reroute.ts';

/**
 * Runs Parley with hosts of client libraries on loopback: `rerouted-program.ts <data folder>`.
 * Environment variables contain the hosts and their ports.
 */
const hosts = z
  .record(z.string(), z.number())
  .parse(JSON.parse(process.env.PARLEY_TEST_HOSTS ?? ''));
rerouteHosts(hosts);
const folder = locateDataFolder(process.argv[2], process.env);
await runStart(folder, process.env, () => {});
