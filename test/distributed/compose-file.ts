import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { readDockerfile } from '../release/dockerfile.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const Service = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  command: z.array(z.string()),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  read_only: z.boolean().default(false),
  deploy: z.object({ replicas: z.int() }).optional(),
});
const ComposeFile = z.object({
  services: z.record(z.string(), z.looseObject({})),
  volumes: z.record(z.string(), z.unknown()),
  configs: z.object({ settings: z.object({ content: z.string() }) }),
});

/** A container that runs Parley. */
export interface ParleyService {
  readonly name: string;
  /** The arguments that follow the image's entry point. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** `CMD`, a program and its arguments. */
  readonly healthcheck: readonly string[];
  readonly volumes: readonly string[];
  /** Whether only the volumes and `/tmp` are writable. */
  readonly isReadOnly: boolean;
  readonly replicas: number;
}

/** The parsed content of a compose file. */
export interface ComposeTopology {
  readonly parley: readonly ParleyService[];
  /** The other containers, by name. */
  readonly others: readonly string[];
  readonly settings: string;
}

/** Parses one of the repository's compose files the way Compose does. */
export function readCompose(file: string): ComposeTopology {
  const text = readFileSync(resolve(ROOT, file), 'utf8');
  const { services, configs } = ComposeFile.parse(parse(text, { merge: true }));
  const own = Object.entries(services).filter(([, service]) => service.build !== undefined);
  const image = readDockerfileService();
  return {
    others: Object.keys(services).filter((name) => !own.some(([mine]) => mine === name)),
    // Compose interpolates a single dollar; a literal one is doubled.
    settings: configs.settings.content.replaceAll('$$', '$'),
    parley: own.map(([name, given]) => {
      const service = Service.parse(given);
      return {
        name,
        command: service.command,
        environment: { ...image.environment, ...service.environment },
        healthcheck: service.healthcheck?.test ?? image.healthcheck,
        volumes: service.volumes,
        isReadOnly: service.read_only,
        replicas: service.deploy?.replicas ?? 1,
      };
    }),
  };
}

/** What the image adds; the tests run its entry point as well. */
function readDockerfileService(): Pick<ParleyService, 'environment' | 'healthcheck'> {
  const lines = readDockerfile(readFileSync(resolve(ROOT, 'Dockerfile'), 'utf8'));
  const last = lines.slice(lines.findLastIndex(({ kind }) => kind === 'stage'));
  const variables = last.filter((line) => line.kind === 'set');
  const [health = []] = last.flatMap((line) => (line.kind === 'health' ? [line.command] : []));
  return {
    environment: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    healthcheck: ['CMD', ...health],
  };
}
