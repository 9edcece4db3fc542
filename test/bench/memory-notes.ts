import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createChance, type RandomChance } from '../privacy/chance.ts';

/** The number of notes. */
export const NOTES = 10_000;
/** The number of questions. */
export const QUESTIONS = 300;

/** Notes as stored in a workspace, and questions about them; always the same. */
export interface NoteScene {
  /** The text of each file, by name. */
  readonly files: ReadonlyMap<string, string>;
  /** Each note separately, for the baseline. */
  readonly notes: readonly string[];
  readonly questions: readonly string[];
}

/** Words that occur in many notes, by language. */
const COMMON = {
  english:
    'meeting project house garden friend travel train weather coffee morning customer invoice report server music book doctor birthday kitchen bicycle holiday school paper window answer question phone night number family street market letter picture dinner update budget review release archive',
  german:
    'Besprechung Projekt Haus Garten Freund Reise Zug Wetter Kaffee Morgen Kunde Rechnung Bericht Rechner Musik Buch Arzt Geburtstag Küche Fahrrad Urlaub Schule Papier Fenster Antwort Frage Telefon Nacht Nummer Familie Straße Markt Brief Bild Essen Änderung Prüfung Übung Größe Möbel',
  chinese:
    '会议 项目 房子 花园 朋友 旅行 火车 天气 咖啡 早上 客户 发票 报告 电脑 音乐 书籍 医生 生日 厨房 单车 假期 学校 文件 窗户 回答 问题 电话 晚上 号码 家庭 街道 市场 信件 图片 晚饭 更新 预算 检查 发布 档案',
} as const;
type Language = keyof typeof COMMON;
const LANGUAGES: readonly Language[] = ['english', 'german', 'chinese'];

/** Pieces of which rarer words are composed: German compounds, English names, Chinese pairs. */
const PIECES: Readonly<Record<Language, readonly [string, string]>> = {
  english: [
    'Ash Birch Cal Dun Elm Fair Glen Hart Iron Kings Lang Mill North Oak Pem Queens Red Stan Thorn Wil',
    'bridge bury combe dale field ford gate ham hill hurst ley mere port ridge stead ton well wick wood worth',
  ],
  german: [
    'Donau Dampf Schiff Bäcker Müller Garten Kühl Wasser Straßen Bücher Kranken Feuer Flug Apfel Schlüssel Fenster Brücken Mond Winter Hühner',
    'schrank fahrt haus meister tür laden gebühr prüfung verein kasse straße zeug rad bäume mühle wächter größe kuchen stühle gärtnerei',
  ],
  chinese: ['松柏梅兰竹菊山河湖海云雨雪风霜金银铜铁玉', '林园桥塔寺庙街巷港湾镇村店馆厅楼亭台洞泉'],
};

const SMALL: Readonly<Record<Language, string>> = {
  english: 'the and of to with for about near before after our my',
  german: 'der die das und mit für von nach vor unser mein bei',
  chinese: '的 了 在 和 是 我 们 有 也 到 就 要',
};

/** Words are distributed as in real text: a few are everywhere, most are rare. */
export function createNoteScene(seed = 20_261_121): NoteScene {
  const chance = createChance(seed);
  const notes = Array.from({ length: NOTES }, () => createNoteText(chance, pickLength(chance)));
  return { notes, files: createFiles(notes), questions: createQuestions(chance) };
}

/** Writes the files into a workspace. */
export function writeNotes(folder: string, { files }: NoteScene): void {
  for (const [name, text] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** The number of words: most notes are a line, one in fifty is a page. */
function pickLength(chance: RandomChance): number {
  const kind = chance.below(50);
  if (kind === 0) return 80 + chance.below(80);
  return kind < 15 ? 20 + chance.below(30) : 6 + chance.below(10);
}

function createNoteText(chance: RandomChance, words: number): string {
  const language = chance.pick(LANGUAGES);
  const picked = Array.from({ length: words }, () => pickWord(chance, language));
  return language === 'chinese' ? `${picked.join('')}。` : `${picked.join(' ')}.`;
}

function pickWord(chance: RandomChance, language: Language): string {
  const kind = chance.below(10);
  if (kind < 4) return chance.pick(SMALL[language].split(' '));
  if (kind < 8) return pickCommonWord(chance, language);
  return createRareWord(chance, language);
}

/** The first words occur far more often than the last. */
function pickCommonWord(chance: RandomChance, language: Language): string {
  const words = COMMON[language].split(' ');
  return words[Math.floor((chance.below(1_000) / 1_000) ** 2 * words.length)] ?? '';
}

function createRareWord(chance: RandomChance, language: Language): string {
  const [first, second] = PIECES[language];
  const split = language === 'chinese' ? '' : ' ';
  const word = `${chance.pick(first.split(split))}${chance.pick(second.split(split))}`;
  return chance.happens(0.3) ? `${word}${chance.below(100)}` : word;
}

/** 4,000 saved memories in two large files, a year of daily notes, 3,000 sections of knowledge. */
function createFiles(notes: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const put = (name: string, from: number, to: number, print: (note: string) => string): void => {
    files.set(name, `${notes.slice(from, to).map(print).join('')}`);
  };
  put('memory/user.md', 0, 3_000, formatSavedNote);
  put('memory/project.md', 3_000, 4_000, formatSavedNote);
  for (let day = 0; day < 300; day += 1) {
    const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
    put(`memory/${date}.md`, 4_000 + day * 10, 4_010 + day * 10, (note) => `- ${note}\n`);
  }
  put('knowledge/all-about-it.md', 7_000, 8_000, formatSection);
  for (let nth = 0; nth < 200; nth += 1) {
    put(`knowledge/topic-${nth}.md`, 8_000 + nth * 10, 8_010 + nth * 10, formatSection);
  }
  return files;
}

function formatSavedNote(note: string): string {
  const id = `m${Buffer.from(note).toString('hex').slice(-16)}`;
  const from = 'channel=telegram chat=42 message=7 conversation=telegram%3Adefault%3A42 session=3';
  return `- ${note} <!-- parley id=${id} type=fact scope=user person=telegram%3A42 date=2026-11-21 words=own ${from} -->\n`;
}

function formatSection(note: string): string {
  return `## ${note.slice(0, 30)}\n\n${note}\n\n`;
}

/**
 * Common words, rare words, pairs of Chinese characters, whole sentences, and words that never
 * occur.
 */
function createQuestions(chance: RandomChance): readonly string[] {
  return Array.from({ length: QUESTIONS }, (_, nth) => {
    const language = LANGUAGES[nth % LANGUAGES.length] ?? 'english';
    const between = language === 'chinese' ? '' : ' ';
    switch (Math.floor(nth / LANGUAGES.length) % 6) {
      case 0:
        return pickCommonWord(chance, language);
      case 1:
        return createRareWord(chance, language);
      case 2:
        return [pickCommonWord(chance, language), createRareWord(chance, language)].join(between);
      case 3:
        return createNoteText(chance, 12);
      case 4:
        return chance.pick(PIECES[language][1].split(language === 'chinese' ? '' : ' '));
      default:
        return [
          chance.letters(9),
          pickCommonWord(chance, language),
          createNoteText(chance, 40),
        ].join(' ');
    }
  });
}
