package policy

import (
	"fmt"
	"time"
)

// Date is a day of the calendar, without a time of day or a zone. The zero Date is
// no day.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf returns the day on which t falls in t's own zone.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{Year: year, Month: month, Day: day}
}

// ParseDate reads a day written as 2027-01-31 (ISO 8601, the extended form of a
// calendar date). Days that the calendar does not have are errors.
func ParseDate(s string) (Date, error) {
	// time.Parse refuses the 30th of February, but takes one digit where two are due.
	t, err := time.Parse(time.DateOnly, s)
	if err != nil || len(s) != len(time.DateOnly) || t.Year() == 0 {
		return Date{}, fmt.Errorf("%q is not a date of the form 2027-01-31", s)
	}
	return DateOf(t), nil
}

// IsZero reports whether d is no day.
func (d Date) IsZero() bool { return d == Date{} }

// Before reports whether d is an earlier day than other.
func (d Date) Before(other Date) bool { return d.midnight().Before(other.midnight()) }

// String returns the day as ParseDate reads it.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day) }

// midnight is the day's start in UTC, where every day has 24 hours.
func (d Date) midnight() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }
