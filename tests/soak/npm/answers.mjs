// Answers line by line: `node answers.mjs cron-parser|node-cron`; expression, zone, start in seconds since 1970 and count by tabs.
// The fires in seconds, or "!" and the reason.
import {readFileSync} from 'node:fs';
import {CronExpressionParser} from 'cron-parser';
import {validate} from 'node-cron';
// node-cron's public functions begin at the present time alone: this is what they ask.
import {T as TimeMatcher} from './node_modules/node-cron/dist/_shared.js';

const askers = {
  'cron-parser': (expression, zone, start, count) => {
    const found = CronExpressionParser.parse(expression, {tz: zone, currentDate: new Date(start * 1000)});
    return Array.from({length: count}, () => found.next().getTime() / 1000);
  },
  'node-cron': (expression, zone, start, count) => {
    if (!validate(expression)) throw new Error('not valid');
    const matcher = new TimeMatcher(expression, zone);
    const fires = [];
    for (let at = new Date(start * 1000); fires.length < count; fires.push(at.getTime() / 1000)) at = matcher.getNextMatch(at);
    return fires;
  },
};

const ask = askers[process.argv[2]];
for (const line of readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
  const [expression, zone, start, count] = line.split('\t');
  try {
    console.log(ask(expression, zone, Number(start), Number(count)).join(' '));
  } catch (error) {
    console.log('!' + String(error.message).split('\n')[0]);
  }
}
