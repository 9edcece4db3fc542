import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');

const Service = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  command: z.array(z.string()),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
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
  /** What follows the image's entry point. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** `CMD`, a program and its arguments. */
  readonly healthcheck: readonly string[];
  readonly volumes: readonly string[];
  readonly replicas: number;
}

/** What a compose file says. */
export interface Topology {
  readonly parley: readonly ParleyService[];
  /** The other containers, by name. */
  readonly others: readonly string[];
  readonly settings: string;
}

/** Reads a compose file of the repository, as Compose does with these variables. */
export function readCompose(file: string, variables: Readonly<Record<string, string>>): Topology {
  const text = readFileSync(resolve(ROOT, file), 'utf8');
  const { services, configs } = ComposeFile.parse(parse(text, { merge: true }));
  const fill = (value: string): string => interpolate(value, variables);
  const own = Object.entries(services).filter(([, service]) => service.build !== undefined);
  const image = dockerfile();
  return {
    others: Object.keys(services).filter((name) => !own.some(([mine]) => mine === name)),
    settings: fill(configs.settings.content),
    parley: own.map(([name, given]) => {
      const service = Service.parse(given);
      const environment = Object.entries(service.environment).map(([key, value]) => [
        key,
        fill(value),
      ]);
      return {
        name,
        command: service.command,
        environment: { ...image.environment, ...Object.fromEntries(environment) },
        healthcheck: service.healthcheck?.test ?? image.healthcheck,
        volumes: service.volumes,
        replicas: service.deploy?.replicas ?? 1,
      };
    }),
  };
}

/** What the image adds; its entry point is what the tests run as well. */
function dockerfile(): Pick<ParleyService, 'environment' | 'healthcheck'> {
  const text = readFileSync(resolve(ROOT, 'Dockerfile'), 'utf8').replace(/\\\n/g, ' ');
  const entry = /^ENTRYPOINT (\[.*\])$/m.exec(text)?.[1] ?? '';
  const flag = z.string().startsWith('--max-semi-space-size=');
  z.tuple([z.literal('node'), flag, z.literal('apps/parley/bin/parley.js')]).parse(
    JSON.parse(entry),
  );
  const environment = [...text.matchAll(/^ENV (\w+)=(.*)$/gm)].map(([, key, value]) => [
    key,
    value,
  ]);
  const check = /^HEALTHCHECK .*?CMD (\[.*\])$/m.exec(text)?.[1] ?? '';
  return {
    environment: Object.fromEntries(environment),
    healthcheck: ['CMD', ...z.array(z.string()).parse(JSON.parse(check))],
  };
}

/** `${NAME}`, `${NAME:?words}`; `$$` is a dollar. Throws for a variable that is not given. */
function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\{(\w+)(?::\?[^}]*)?\}/g, (whole, name?: string) => {
    if (name === undefined) return '$';
    const value = variables[name];
    if (value === undefined) throw new Error(`${whole} is not given`);
    return value;
  });
}
